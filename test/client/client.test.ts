import type { IncomingMessage, ServerResponse } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import { bundleClient } from '../../packages/client/pack/bundle.ts'
import { toWait } from '../../packages/client/src/requests.ts'
import { createWaypost, type Waypost } from '../../packages/client/src/waypost.ts'
import { WaypostError } from '../../packages/client/src/waypost-error.ts'
import { parseRetryAfter } from '../../src/domain/probe/finding.ts'
import { forAllTests } from '../support/for-tests.ts'
import { serveFixture } from '../support/running-service.ts'
import { startSite } from '../support/site.ts'

const running = serveFixture()
let waypost: Waypost
beforeAll(async () => {
  waypost = createWaypost({ baseUrl: `${running.url}/` })
})

async function collect<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const all: Row[] = []
  for await (const row of rows) all.push(row)
  return all
}

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

describe('the client, against the service', () => {
  test('searches and reads what the interface publishes', async () => {
    const found = await waypost.search({ q: 'weather', has: ['openapi'], paid_only: true })
    expect(found.query).toMatchObject({ q: 'weather', has: ['openapi'], paid_only: true })
    const compact = await waypost.search({ q: 'weather', view: 'compact', limit: 2 })
    const [first] = compact.results
    expect(compact.results.length).toBe(2)
    const listing = await waypost.listing(first?.id ?? '')
    const kit = await waypost.kit(listing.id)
    expect([listing.name, kit.name]).toEqual([first?.name, first?.name])
    const compared = await waypost.compare(idsOf(compact.results))
    expect(idsOf(compared.sections.flatMap(({ rows }) => rows)).sort()).toEqual(
      idsOf(compact.results).sort(),
    )
    expect((await waypost.stats()).listings.total).toBeGreaterThan(3)
    expect(await waypost.categories()).toHaveProperty('categories')
    expect(await waypost.sources()).toHaveProperty('sources')
    expect((await waypost.changes()).changes).toBeInstanceOf(Array)
  })

  test('pages through everything, each listing once and in the order of the search', async () => {
    const all = await collect(waypost.results({ limit: 3, view: 'compact' }))
    const whole = await waypost.search({ limit: 50, view: 'compact' })
    expect(whole.total).toBeGreaterThan(6)
    expect(idsOf(all)).toEqual(idsOf(whole.results))
  })

  test('hands on the service’s own words about what was wrong', async () => {
    const requested = waypost.search({ limit: 0 })
    await expect(requested).rejects.toThrow(WaypostError)
    await expect(requested).rejects.toMatchObject({
      code: 'invalid-parameter',
      status: 400,
      problem: { errors: [{ in: 'query', name: 'limit' }] },
    })
    await expect(waypost.listing('../../../etc/passwd')).rejects.toMatchObject({ status: 404 })
  })

  test('a base address that is none is refused, one below a path is kept', async () => {
    expect(() => createWaypost({ baseUrl: 'waypost.example' })).toThrow(/http\(s\) address/)
    const requested: string[] = []
    const below = createWaypost({
      baseUrl: 'https://tools.example/directory/',
      fetch: async (url) => {
        requested.push(String(url))
        return Response.json({})
      },
    })
    await below.stats()
    expect(requested).toEqual(['https://tools.example/directory/api/v1/stats'])
  })
})

describe('a service that fails for a moment', () => {
  let answers: ((res: ServerResponse, req: IncomingMessage) => void)[] = []
  let requested = 0
  const seller = forAllTests(() =>
    startSite((req, res) => {
      requested += 1
      answers.shift()?.(res, req)
    }),
  )

  const answer =
    (status: number, body: object = {}, headers: Record<string, string> = {}) =>
    (res: ServerResponse) =>
      void res
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body))
  const broken = (res: ServerResponse) => void res.destroy()
  const ask = async <Result>(
    given: typeof answers,
    work: (client: Waypost) => Promise<Result>,
  ): Promise<Result | WaypostError> => {
    answers = given
    requested = 0
    const client = createWaypost({ baseUrl: seller.url, timeoutMs: 60_000 })
    return work(client).catch((error) => error)
  }

  test('is asked again, after as long as it said', async () => {
    const again = answer(503, {}, { 'retry-after': '0' })
    const result = await ask([again, broken, again, answer(200, { ok: 1 })], (client) =>
      client.stats(),
    )
    expect([result, requested]).toEqual([{ ok: 1 }, 4])
    const client = createWaypost({ baseUrl: seller.url, timeoutMs: 1000, retries: 1 })
    answers = [() => {}, answer(200, { ok: 2 })]
    expect(await client.stats()).toEqual({ ok: 2 })
  })

  test.each([
    ['its fourth failure is final', [503, 503, 503, 503], '0', 4, 503],
    ['what is wrong stays wrong', [400], '0', 1, 400],
    ['who asks for an hour is not waited for', [429], '3600', 1, 429],
  ])('%s', async (_, statuses, retryAfter, times, status) => {
    const given = statuses.map((each) => answer(each, {}, { 'retry-after': retryAfter }))
    const result = await ask(given, (client) => client.stats())
    expect(result).toMatchObject({ status, retryAfter: Number(retryAfter) })
    expect(requested).toBe(times)
  })

  test('what may change something is asked again only where nothing was done', async () => {
    const report = { about: 'https://a.example', kind: 'new' } as const
    const once = await ask([answer(503)], (client) => client.report(report))
    expect([once, requested]).toEqual([expect.objectContaining({ status: 503 }), 1])
    const limited = answer(429, {}, { 'retry-after': '0' })
    await ask([limited, answer(202)], (client) => client.report(report))
    expect(requested).toBe(2)
    const call = await ask([broken], (client) => client.call('x402.a'))
    expect([call, requested]).toEqual([expect.objectContaining({ code: 'unreachable' }), 1])
  })

  test('text that is not JSON, silence, and a caller that has had enough', async () => {
    const page = (res: ServerResponse) => void res.end('<html>')
    expect(await ask([page], (client) => client.stats())).toMatchObject({ code: 'unreadable' })
    const client = createWaypost({ baseUrl: seller.url, timeoutMs: 50, retries: 0 })
    answers = [() => {}]
    await expect(client.stats()).rejects.toMatchObject({ code: 'timeout' })
    const enough = AbortSignal.abort(new Error('enough'))
    await expect(client.stats({ signal: enough })).rejects.toThrow('enough')
  })

  test('waits grow, within a bound, and start anywhere below; the service may ask for more', () => {
    expect([1, 2, 3].map((tries) => toWait(tries, undefined, 1))).toEqual([250, 500, 1000])
    expect(toWait(40, undefined, 1)).toBe(30_000)
    expect(toWait(1, undefined, 0)).toBe(0)
    expect([toWait(1, 2, 0), toWait(1, 31, 1)]).toEqual([2000, null])
    expect(parseRetryAfter('Thu, 01 Jan 1970 00:01:00 GMT', 0)).toBe(60)
    expect(parseRetryAfter('soon', 0)).toBeNull()
  })
})

describe('what is published', () => {
  test('is at most 40 KB for who uses the library, wallet aside, and 90 KB with doTask', async () => {
    const files = await bundleClient()
    const reach = (...entries: string[]) => {
      const reached = new Set(entries)
      for (const name of reached)
        for (const [, part = ''] of (files[name] ?? '').matchAll(/["']\.\/([\w-]+\.js)["']/g))
          reached.add(part)
      return [...reached].reduce((sum, name) => sum + Buffer.byteLength(files[name] ?? ''), 0)
    }
    const bytes = reach('waypost.js', 'lock.js', 'waypost-error.js')
    expect(bytes).toBeGreaterThan(5000)
    expect(bytes).toBeLessThanOrEqual(40_000)
    expect(reach('do-task.js')).toBeLessThanOrEqual(90_000)
    expect(Object.values(files).join('')).not.toMatch(/(?:from|import)\s*\(?["'](?!node:|\.\/)/)
  })
})
