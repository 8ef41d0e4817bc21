import type { Server } from 'node:http'
import * as v from 'valibot'
import { afterAll, describe, expect, test } from 'vitest'
import type { Search } from '../../functions/search/search.ts'
import { createReleaseSearch, createSearchPath } from '../../functions/search/search-routes.ts'
import { createWaypostServer } from '../../functions/service/server.ts'
import { ROUTES } from '../../src/domain/wire/routes.ts'
import { listen } from '../support/listen.ts'
import { serveFixture, startService } from '../support/running-service.ts'

/** The path of the specification, and with `/` behind. */
const PROTOCOL_ENDPOINTS = ['/api/v1/search', '/api/v1/search/']
const SEARCH_ID = /[0-9a-f]{8}-[0-9a-f-]{27}/g
const AnswerSchema = v.object({
  search_id: v.string(),
  query: v.object({ q: v.optional(v.string()), limit: v.number() }),
  results: v.array(v.object({ id: v.string() })),
})

/** What a refusal lacks. */
const NO_ANSWER = { search_id: '', query: { limit: 0 }, results: [] }

const running = serveFixture({ RATE_LIMITS: '{"search":"100000/60"}' })
const opened: Server[] = []

afterAll(async () => {
  for (const server of opened) {
    server.closeAllConnections()
    server.close()
  }
})

/** The running service's parts behind a server of their own, around this search. */
async function serve(search: Search): Promise<number> {
  const { parts } = running.service
  const server = createWaypostServer({
    parts,
    features: [{ paths: [createSearchPath(ROUTES.search.path, parts, search)] }],
  })
  opened.push(server)
  return listen(server)
}

/** What an answer says, without what differs in each: its date, its search id, the limit's count. */
async function ask(url: string, method = 'GET') {
  // A search id packs into more or fewer bytes, so lengths are compared of what is not packed.
  const response = await fetch(url, { method, headers: { 'accept-encoding': 'identity' } })
  const headers: Record<string, string> = Object.fromEntries(response.headers)
  const { date, ratelimit, ...others } = headers
  const text = await response.text()
  return {
    status: response.status,
    headers: { ...others, ratelimit: ratelimit?.replace(/r=\d+;t=\d+/, '') },
    body: text.replaceAll(SEARCH_ID, 'search-id'),
  }
}

describe('both addresses answer alike', () => {
  test.each([
    ['GET', '', 200],
    ['GET', '?q=weather', 200],
    ['GET', '?q=weather&limit=50&offset=1', 200],
    ['GET', '?q=%E5%A4%A9%E6%B0%97%20%22%5C', 200],
    ['GET', '?q=notoin', 200],
    ['GET', '?q=%20', 200],
    ['GET', '?kind=kit', 200],
    ['GET', '?limit=0', 400],
    ['GET', '?limit=5&limit=6&page=2', 400],
    ['HEAD', '?q=weather', 200],
    ['HEAD', '?limit=0', 400],
  ])('%s %s', async (method, query, status) => {
    const [own, route] = await Promise.all(
      PROTOCOL_ENDPOINTS.map((path) => ask(`${running.url}${path}${query}`, method)),
    )
    expect(own?.status).toBe(status)
    expect(own).toEqual(route)
  })

  test('each request is counted once against the limit, whatever comes of it', async () => {
    const limited = await startService({ RATE_LIMITS: '{"search":"4/60"}' })
    const left = async (query: string) => {
      const response = await fetch(`${limited.url}/api/v1/search${query}`)
      return [response.status, /r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]]
    }
    expect(await left('?q=a')).toEqual([200, '3'])
    expect((await left('?limit=0'))[0]).toBe(400)
    expect(await left('?q=a')).toEqual([200, '1'])
    expect(await left('/?q=a')).toEqual([200, '0'])
    expect(await left('?q=a')).toEqual([429, '0'])
    await limited.close()
  })

  test('both count the listings they showed, each once for many searches', async () => {
    const counted = new Map<string, number>()
    const { parts } = running.service
    let report = () => {}
    const usage = {
      ...parts.ledger.usage,
      searched: (ids: readonly string[], _: unknown, times = 1) => {
        for (const id of ids) counted.set(id, (counted.get(id) ?? 0) + times)
      },
      beforeFlush: (given: () => void) => {
        report = given
      },
    }
    const port = await serve(
      createReleaseSearch({ ...parts, ledger: { ...parts.ledger, usage } }, 'api'),
    )
    const shown = new Map<string, number>()
    for (const target of ['?q=weather', '/?q=weather', '', '?limit=1', '/?limit=0', '?limit=0']) {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/search${target}`)
      const { results } = v.parse(AnswerSchema, { ...NO_ANSWER, ...(await response.json()) })
      for (const { id } of results) shown.set(id, (shown.get(id) ?? 0) + 1)
    }
    expect(counted.size).toBe(0)
    report()
    expect(counted).toEqual(shown)
    report()
    expect(counted).toEqual(shown)
  })

  test('a failure is one line of the log and a 500 that says nothing', async () => {
    const port = await serve(() => {
      throw new Error('the secret of the index')
    })
    for (const path of PROTOCOL_ENDPOINTS) {
      const before = running.log.length
      const { status, body } = await ask(`http://127.0.0.1:${port}${path}?q=weather`)
      expect(status).toBe(500)
      expect(body).not.toContain('secret')
      const lines = running.log.slice(before).filter((line) => line.includes('request.failed'))
      expect(lines).toHaveLength(1)
    }
  })
})

test('of many searches at once each gets its own answer, also beside one that fails', async () => {
  const search = createReleaseSearch(running.service.parts, 'api')
  const port = await serve((query, take) => {
    if (query.includes('fail')) throw new Error('this one only')
    return search(query, take)
  })
  const url = `http://127.0.0.1:${port}/api/v1/search`
  const limits = Array.from({ length: 40 }, (_, at) => at + 1)
  const [failed, refused, ...answers] = await Promise.all([
    fetch(`${url}?q=fail`),
    fetch(`${url}?limit=0`),
    ...limits.map(async (limit) => (await fetch(`${url}?limit=${limit}`)).json()),
  ])
  expect([failed.status, refused.status]).toEqual([500, 400])
  expect(answers.map((answer) => v.parse(AnswerSchema, answer).query.limit)).toEqual(limits)
})
