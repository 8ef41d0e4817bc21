import { createHttpClient } from '../../functions/net/http-client.ts'
import { createResolver } from '../../functions/net/resolver.ts'
import { parseConfig } from '../../functions/ports/config.ts'
import { findSeller, toNothing } from '../../functions/probes/find-seller.ts'
import { findUrlFault } from '../../src/domain/listing/target-url.ts'
import type { ProbeReply } from '../../src/domain/probe/finding.ts'
import type { SellerAnswer, SellerReader } from '../facts/seed-source.ts'

/** Sellers read at once; each host one at a time. */
const AT_ONCE = 8

/** @param allowPrivate for trials with sellers on this machine */
export function createSellerReader(allowPrivate: boolean): SellerReader {
  const config = { ...parseConfig(process.env), UNSAFE_ALLOW_PRIVATE_TARGETS: allowPrivate }
  const client = createHttpClient('stranger', { config, resolver: createResolver(undefined) })
  const busy = new Map<string, Promise<unknown>>()
  const inTurn = <Result>(url: string, work: () => Promise<Result>): Promise<Result> => {
    const host = URL.parse(url)?.host ?? ''
    const turn = (busy.get(host) ?? Promise.resolve()).then(work)
    busy.set(host, turn)
    return turn
  }
  return {
    async read(url) {
      const fault = findUrlFault(url, { allowPrivate })
      if (fault !== null) return { ok: false, detail: fault }
      return toAnswer(await inTurn(url, () => client.fetch({ method: 'GET', url })))
    },
    async find(origin) {
      const fault = findUrlFault(`${origin}/`, { allowPrivate })
      return fault === null
        ? inTurn(origin, () => findSeller(origin, client))
        : toNothing(origin, fault)
    },
    async each(items, work) {
      const results: Awaited<ReturnType<typeof work>>[] = new Array(items.length)
      const queue = items.entries()
      const workers = Array.from({ length: AT_ONCE }, async () => {
        for (const [at, item] of queue) results[at] = await work(item)
      })
      await Promise.all(workers)
      return results
    },
    close: () => client.close(),
  }
}

function toAnswer(reply: ProbeReply): SellerAnswer {
  if (!reply.answered) return { ok: false, detail: reply.detail }
  const { status, body, cut } = reply.answer
  if (status !== 200) return { ok: false, detail: `expected status 200, got ${status}` }
  return cut ? { ok: false, detail: 'expected a shorter answer' } : { ok: true, text: body }
}
