import { text as readText } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { callThroughRelay } from '../../functions/protocols/mcp-call-tool.ts'
import { createRelay } from '../../functions/relay/relay.ts'
import { aListing, type RelayWorld, startRelay } from '../call/relay-world.ts'
import { forAllTests } from '../support/for-tests.ts'
import { startSite } from '../support/site.ts'

const seen: {
  method: string | undefined
  url: string | undefined
  body: string
  headers: object
}[] = []

const seller = forAllTests(() =>
  startSite(async (req, res) => {
    const body = await readText(req)
    seen.push({ method: req.method, url: req.url, body, headers: req.headers })
    if (req.url === '/large') return void res.end('x'.repeat(1_000_000))
    res.setHeader('content-type', 'application/json').end(JSON.stringify({ ok: true }))
  }),
)
const listings = () => [aListing(`${seller.url}/start`)]
const world = forAllTests(() => startRelay({ listings: listings() }))
const limited = forAllTests(() =>
  startRelay({ listings: listings(), env: { RATE_LIMITS: '{"call":"1/60"}' } }),
)

type Caller = NonNullable<Parameters<typeof callThroughRelay>[1]>

/** A request as it reaches the endpoint, of which the relay is told who sent it and where. */
const aCaller = ({ ip = '198.51.100.7', localPort = 1, signal = new AbortController().signal }) =>
  ({
    ...{ ip, signal, headers: new Headers() },
    runtime: { name: 'node', node: { req: { socket: { localAddress: '127.0.0.1', localPort } } } },
  }) as unknown as Caller

const call = (
  changes: object = {},
  { parts }: RelayWorld = world,
  caller: Parameters<typeof aCaller>[0] = {},
) =>
  callThroughRelay(
    createRelay(parts),
    aCaller(caller),
    {
      id: 'x402.seller',
      method: 'GET',
      endpoint: undefined,
      headers: {},
      body: undefined,
      ...changes,
    },
    64 * 1024,
  )

describe('a call that never was on a socket of ours', () => {
  test('reaches the seller as it was asked for', async () => {
    const answer = await call({
      method: 'POST',
      endpoint: '/search?q=a%20b',
      headers: { 'content-type': 'application/json', 'x-api-key': 'k' },
      body: Buffer.from('{"q":1}'),
    })
    expect(answer).toMatchObject({ status: 200, isCut: false })
    expect(JSON.parse(answer.body.toString())).toEqual({ ok: true })
    expect(seen.at(-1)).toMatchObject({
      method: 'POST',
      url: '/search?q=a%20b',
      body: '{"q":1}',
      headers: { 'x-api-key': 'k', host: new URL(seller.url).host },
    })
  })

  test('is read to its bound and no further', async () => {
    const answer = await call({ endpoint: '/large' })
    expect(answer.isCut).toBe(true)
    expect(answer.body.length).toBe(64 * 1024)
  })

  test('meets the relay’s own refusals: an unknown listing, a foreign host, its own address', async () => {
    expect((await call({ id: 'x402.nobody' })).status).toBe(404)
    expect((await call({ endpoint: 'https://evil.example/x' })).status).toBe(400)
    const loop = await call({}, world, { localPort: seller.port })
    expect(loop.status).toBe(508)
  })

  test('counts against its caller’s limit of calls, and nobody else’s', async () => {
    const relay = createRelay(limited.parts)
    const once = (ip: string) =>
      callThroughRelay(
        relay,
        aCaller({ ip }),
        { id: 'x402.seller', method: 'GET', endpoint: undefined, headers: {}, body: undefined },
        1024,
      )
    expect((await once('198.51.100.1')).status).toBe(200)
    expect((await once('198.51.100.1')).status).toBe(429)
    expect((await once('198.51.100.2')).status).toBe(200)
  })
})

test('a caller that hangs up is gone for the seller too', async () => {
  const { promise: isRequested, resolve: ask } = Promise.withResolvers<void>()
  const { promise: isLeft, resolve: leave } = Promise.withResolvers<void>()
  const silent = await startSite((req) => {
    req.socket.once('close', () => leave())
    ask()
  })
  const waiting = await startRelay({ listings: [aListing(silent.url)] })
  const stop = new AbortController()
  const answer = call({}, waiting, { signal: stop.signal })
  await isRequested
  stop.abort()
  await expect(answer).rejects.toThrow()
  await isLeft
  await Promise.all([waiting.close(), silent.close()])
})
