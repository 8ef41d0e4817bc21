import { Role } from '@a2a-js/sdk'
import { ClientFactory, JsonRpcTransportFactory } from '@a2a-js/sdk/client'
import { describe, expect, test } from 'vitest'
import { toAgentCard } from '../../src/domain/protocols/cards.ts'
import { serveFixture } from '../support/running-service.ts'

const running = serveFixture()

const part = (content: object) => ({ content, metadata: undefined, filename: '', mediaType: '' })

/** The official client, over our card with the address this test listens on. */
async function send(parts: object[]) {
  const { AgentCard } = await import('@a2a-js/sdk')
  const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory()] })
  const client = await factory.createFromAgentCard(
    AgentCard.fromJSON(toAgentCard(running.url, running.service.parts.release().site)),
  )
  return client.sendMessage({
    tenant: '',
    message: {
      messageId: crypto.randomUUID(),
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: parts as never,
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: undefined,
    metadata: undefined,
  })
}

async function post(body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${running.url}/a2a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, json: await response.json() }
}

const former = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 7, method, params })
const formerMessage = (parts: unknown[]) =>
  former('message/send', { message: { kind: 'message', messageId: 'm1', role: 'user', parts } })

describe('the A2A agent', () => {
  test('to the official client a message is a search', async () => {
    const answer = await send([part({ $case: 'text', value: 'weather' })])
    const api = await (await fetch(`${running.url}/api/v1/search?q=weather&limit=5`)).json()
    expect(JSON.stringify(answer)).toContain('x402.weather')
    expect(answer).toMatchObject({
      parts: [
        {
          content: {
            $case: 'data',
            value: {
              total: api.total,
              results: api.results.map(({ id }: { id: string }) => ({ id })),
            },
          },
        },
        { content: { $case: 'text', value: expect.stringContaining('(x402.weather): ') } },
      ],
    })
  })

  test.each([
    ['0.3', formerMessage([{ kind: 'file', file: { bytes: 'aGk=', mimeType: 'text/plain' } }])],
    [
      '0.3',
      formerMessage([
        { kind: 'text', text: 'weather' },
        { kind: 'file', file: { uri: 'https://a.example/' } },
      ]),
    ],
    [
      '1.0',
      former('SendMessage', {
        message: {
          messageId: 'm1',
          role: 'ROLE_USER',
          parts: [{ raw: 'aGk=', mediaType: 'text/plain' }],
        },
      }),
    ],
    [
      '1.0',
      former('SendMessage', {
        message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ url: 'https://a.example/' }] },
      }),
    ],
  ])('a file is a content type that it does not take, in %s', async (version, message) => {
    const { status, json } = await post(message, { 'a2a-version': version })
    expect([status, json]).toMatchObject([
      200,
      { id: 7, error: { code: -32005, message: expect.stringMatching(/text part.*data part/) } },
    ])
  })

  test('a data part adds the filters of the search', async () => {
    const answer = await send([
      part({ $case: 'text', value: 'weather' }),
      part({ $case: 'data', value: { kind: 'mcp_server', limit: 1 } }),
    ])
    expect(answer).toMatchObject({
      parts: [{ content: { value: { results: [{ id: 'mcp.tenki' }] } } }, {}],
    })
  })

  test('speaks 0.3 where no version is named', async () => {
    const { json } = await post(formerMessage([{ kind: 'text', text: 'weather' }]))
    expect(json).toMatchObject({
      id: 7,
      result: {
        kind: 'message',
        role: 'agent',
        parts: [
          { kind: 'data', data: { results: [{ id: 'x402.weather' }, {}, {}] } },
          { kind: 'text', text: expect.stringMatching(/^3 of \d+:\n- /) },
        ],
      },
    })
  })

  test.each([
    ['an unknown method', former('message/eat', {}), {}, -32601],
    ['a task that never was', former('tasks/get', { id: 'nope' }), {}, -32001],
    [
      'streaming, which is not offered',
      former('message/stream', formerMessage([]).params),
      {},
      -32004,
    ],
    ['a version nobody speaks', former('message/send', {}), { 'a2a-version': '9.9' }, -32009],
    ['a message without a message', former('message/send', {}), {}, -32602],
    ['something that is not JSON', '{', {}, -32700],
    ['a list', [], {}, -32600],
  ])('%s: a JSON-RPC error', async (_, body, headers, code) => {
    const { status, json } = await post(body, headers)
    expect(json.error.code).toBe(code)
    expect(status).toBeLessThan(500)
  })

  test('a parameter nobody knows is named in the answer', async () => {
    const { json } = await post(formerMessage([{ kind: 'data', data: { knid: 'kit' } }]))
    expect(JSON.stringify(json)).toMatch(/knid/)
  })

  test('the card is served for both revisions', async () => {
    const response = await fetch(`${running.url}/.well-known/agent-card.json`)
    const card = await response.json()
    expect(card).toEqual(
      toAgentCard('https://waypost.example', running.service.parts.release().site),
    )
    expect(card.capabilities.streaming).toBe(false)
    expect(response.headers.get('etag')).toBeTruthy()
  })
})
