import type { RequestListener } from 'node:http'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import type { Fetcher } from '../../functions/net/http-client.ts'
import { createResolver } from '../../functions/net/resolver.ts'
import { askOperations } from '../../functions/probes/handshake.ts'
import { type EvidenceKeeper, probeContent } from '../../functions/probes/schedule.ts'
import type { ProbePlan } from '../../src/domain/probe/plan.ts'
import { planProbe } from '../../src/domain/probe/plan.ts'
import { type Evidence, EvidenceSchema } from '../../src/domain/trust/evidence.ts'
import { SAMPLE_FACTS } from '../domain/listing-samples.ts'
import { factsOf, OFFER, openClient, openSite, pay, type Site, toTerms } from './probe-world.ts'

const PRICE = { min_usd: 0.01, max_usd: 0.01, per: 'call' }
const wallet = (n: number) => `0x${n.toString(16).padStart(40, '0')}`

const offers = (count: number, amount: string, from: number) =>
  Array.from({ length: count }, (_, n) => ({ ...OFFER, amount, payTo: wallet(from + n) }))

/** A seller whose operations are `/0`, `/1`, …; the first one always asks to be paid. */
const startSeller = (answer: RequestListener) =>
  openSite((req, res) => (req.url === '/0' ? pay(req, res) : answer(req, res)))

function planOf(urls: string[], id = 'x402.a'): ProbePlan {
  const http = urls.map((url) => ({ method: 'GET', url, price: PRICE }))
  const pricing = { ...SAMPLE_FACTS.pricing, max_usd: 0.01 }
  const plan = planProbe(id, factsOf({ url: urls[0], pricing, http }))
  if (plan === null) throw new Error('no plan')
  return plan
}

const paths = (count: number, { url }: Site) =>
  Array.from({ length: count }, (_, n) => `${url}/${n}`)

/** Evidence in memory. */
function createKeeper(): EvidenceKeeper & { kept: Map<string, Evidence> } {
  const kept = new Map<string, Evidence>()
  return {
    kept,
    read: async (id) => kept.get(id) ?? {},
    write: async (id, evidence) => void kept.set(id, v.parse(EvidenceSchema, evidence)),
  }
}

async function run(plans: ProbePlan[], evidence = createKeeper()) {
  const summary = await probeContent({
    plans,
    evidence,
    client: openClient({ bodyBytes: 64 * 1024 }),
    resolver: createResolver(undefined),
    staleMs: 0,
    limit: 100,
    concurrency: 4,
    now: Date.now,
    onProbe: () => {},
  })
  const first = evidence.kept.get(plans[0]?.id ?? '') ?? {}
  return { summary, evidence: first, seen: first.interface?.operations?.map(({ seen }) => seen) }
}

describe('a seller whose first operation speaks', () => {
  test('and that has a hundred is asked six, one after another', async () => {
    let underWay = 0
    const site = await startSeller((req, res) => {
      underWay += 1
      expect(underWay).toBe(1)
      setImmediate(() => {
        underWay -= 1
        pay(req, res)
      })
    })
    const { summary, seen } = await run([planOf(paths(100, site))])
    expect(site.requested).toEqual(['/0', '/1', '/2', '/3', '/4', '/5'])
    expect(summary.outcomes).toEqual({ spoke: 1 })
    expect(seen?.map((each) => each?.outcome)).toEqual(Array.from({ length: 6 }, () => 'spoke'))
  })

  test('has nobody else asked in its name, by address or by redirect', async () => {
    const victim = await startSeller(pay)
    const site = await startSeller((_req, res) =>
      res.writeHead(307, { location: `${victim.url}/1` }).end(),
    )
    const urls = [`${site.url}/0`, `${victim.url}/1`, `${site.url}/1`, `${victim.url}/2`]
    const { seen } = await run([planOf(urls)])
    expect(site.requested).toEqual(['/0', '/1'])
    expect(victim.requested).toEqual([])
    expect(seen?.[1]).toMatchObject({ outcome: 'wrong_protocol', status: 307 })
  })

  test('and that fails elsewhere has spoken all the same', async () => {
    const statuses = [404, 500, 401, 200, 405]
    const site = await startSeller((req, res) =>
      res.writeHead(statuses[Number(req.url?.slice(1)) - 1] ?? 200).end('{}'),
    )
    const { evidence, seen } = await run([planOf(paths(6, site))])
    expect(evidence.probes).toMatchObject([{ outcome: 'spoke', status: 402 }])
    const [, ...others] = seen ?? []
    expect(others.map((each) => [each?.status, each?.outcome])).toEqual([
      [404, 'dead'],
      [500, 'dead'],
      [401, 'gated'],
      [200, 'wrong_protocol'],
      [405, 'wrong_protocol'],
    ])
  })

  test('and that answers without end is read up to a bound, and let go', async () => {
    const gone: Promise<void>[] = []
    const site = await startSeller((_req, res) => {
      gone.push(new Promise((resolve) => res.on('close', resolve)))
      res.writeHead(402, { 'content-type': 'application/json' })
      const pump = () => {
        while (!res.destroyed && res.write('x'.repeat(65_536))) {}
      }
      res.on('drain', pump)
      pump()
    })
    const { seen } = await run([planOf(paths(3, site))])
    await Promise.all(gone)
    expect(gone).toHaveLength(2)
    expect(seen?.[1]).toMatchObject({ outcome: 'wrong_protocol', status: 402 })
  })

  test('and that says something else each time fills nothing up', async () => {
    let turn = 1
    const site = await startSeller((_req, res) => {
      turn += 1
      const terms = toTerms(offers(50, String(turn * 1000), turn * 100))
      res.writeHead(402, { 'payment-required': terms }).end('{}')
    })
    const keeper = createKeeper()
    for (const _ of [1, 2, 3]) await run([planOf(paths(6, site))], keeper)
    const { interface: seen, drift } = keeper.kept.get('x402.a') ?? {}
    expect(seen?.operations).toHaveLength(6)
    expect(seen?.payouts).toHaveLength(20)
    expect(seen?.operations?.[1]?.seen?.pay_to).toHaveLength(10)
    // A price and a payee of the five that change, at two looks after the first.
    expect(drift).toHaveLength(20)
  })

  test('and that asks to be left alone is, with all that stands on its host', async () => {
    const site = await startSeller((_req, res) => res.writeHead(429, { 'retry-after': '60' }).end())
    const plans = [planOf(paths(6, site)), planOf([`${site.url}/0`], 'x402.b')]
    const { summary, seen } = await run(plans)
    expect(site.requested).toEqual(['/0', '/1'])
    expect(summary).toMatchObject({ probed: 1, held_back: 1, outcomes: { spoke: 1 } })
    expect(seen?.[1]).toMatchObject({ outcome: 'unknown', saw: 'status 429, retry after 60 s' })
  })
})

describe('a seller that hangs', () => {
  const handshakeOf = (urls: string[]) => {
    const { handshake } = planOf(urls)
    if (handshake.kind !== 'payment') throw new Error('no payment')
    return handshake
  }

  test('is left when the handshake’s time is over, and what was cut off is held against nobody', async () => {
    const over = new AbortController()
    const site = await startSeller((req, res) => (req.url === '/1' ? pay(req, res) : over.abort()))
    const client = openClient()
    const bounded: Fetcher = {
      fetch: (request) => client.fetch({ ...request, signal: over.signal }),
    }
    const handshake = handshakeOf(paths(6, site))
    const finding = await askOperations(handshake, bounded, Date.now, over.signal)
    expect(site.requested).toEqual(['/0', '/1', '/2'])
    expect(finding.outcome).toBe('spoke')
    expect(finding.others?.map(({ operation }) => operation.url)).toEqual([`${site.url}/1`])
  })

  test('at one of its operations is silent there alone', async () => {
    const site = await startSeller(pay)
    const client = openClient()
    const silent: Fetcher = {
      fetch: async (request) =>
        request.url.endsWith('/1')
          ? { answered: false, failure: 'timeout', detail: '', ms: 20_000 }
          : client.fetch(request),
    }
    const handshake = handshakeOf(paths(3, site))
    const finding = await askOperations(handshake, silent, Date.now, new AbortController().signal)
    expect(finding.others?.map((each) => each.finding.outcome)).toEqual(['dead', 'spoke'])
    expect(finding.failure).toBeUndefined()
  })
})
