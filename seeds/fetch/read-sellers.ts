import { createHttpClient } from '../../functions/net/http-client.ts'
import { createResolver } from '../../functions/net/resolver.ts'
import { parseConfig } from '../../functions/ports/config.ts'
import { findSeller, toNothing } from '../../functions/probes/find-seller.ts'
import { signFromLedger } from '../../functions/probes/sign.ts'
import { findUrlFault } from '../../src/domain/listing/target-url.ts'
import type { ProbeReply } from '../../src/domain/probe/finding.ts'
import { parseJson } from '../../src/domain/wire/json.ts'
import type { Refusal } from '../facts/map-rows.ts'

/** How many hosts are read at once, each with one request at a time. */
const AT_ONCE = 8
/** Most UTF-16 units in all documents of a run together: a list may name any number of documents. */
const MAX_LENGTH = 32 * 1024 * 1024

/** Reads addresses from a source or a listing: guarded like the relay, limited, no redirects. */
export function createSellerReader(allowPrivate: boolean) {
  const config = { ...parseConfig(process.env), UNSAFE_ALLOW_PRIVATE_TARGETS: allowPrivate }
  const resolver = createResolver(undefined)
  const client = createHttpClient('stranger', { config, resolver, sign: signFromLedger(config) })
  const busy = new Map<string, Promise<unknown>>()
  let length = 0
  const inTurn = <Result>(url: string, work: () => Promise<Result>): Promise<Result> => {
    const host = URL.parse(url)?.host ?? ''
    const turn = (busy.get(host) ?? Promise.resolve()).then(work)
    busy.set(host, turn)
    return turn
  }
  return {
    async read(url: string): Promise<SellerAnswer> {
      const fault = findUrlFault(url, { allowPrivate })
      if (fault !== null) return { ok: false, detail: fault }
      if (length > MAX_LENGTH)
        return {
          ok: false,
          detail: `expected at most ${MAX_LENGTH} characters in all documents of a run`,
        }
      const answer = toAnswer(await inTurn(url, () => client.fetch({ method: 'GET', url })))
      if (answer.ok) length += answer.text.length
      return answer
    },
    async find(origin: string) {
      const fault = findUrlFault(`${origin}/`, { allowPrivate })
      return fault === null
        ? inTurn(origin, () => findSeller(origin, client))
        : toNothing(origin, fault)
    },
    /** Maps a list with asynchronous work, a few items at a time, and keeps the list's order. */
    async each<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>) {
      const results: Result[] = new Array(items.length)
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

export type SellerReader = ReturnType<typeof createSellerReader>
type SellerAnswer = { ok: true; text: string } | { ok: false; detail: string }

function toAnswer(reply: ProbeReply): SellerAnswer {
  if (!reply.answered) return { ok: false, detail: reply.detail }
  const { status, body, cut } = reply.answer
  if (status !== 200) return { ok: false, detail: `expected status 200, got ${status}` }
  return cut ? { ok: false, detail: 'expected a shorter answer' } : { ok: true, text: body }
}

/**
 * A document, and where it was read; documents from one place belong together. A class, since a
 * stranger's row could have the same members.
 */
export class ReadDocument {
  readonly place: string | null
  readonly document: unknown
  constructor(place: string | null, document: unknown) {
    this.place = place
    this.document = document
  }
}

/**
 * Rows that are addresses are replaced by their documents; other rows stay as they are.
 * @param neighboursOf addresses of other documents that may be next to a document; some may be missing
 */
export async function followAddresses(
  values: readonly unknown[],
  reader: SellerReader,
  neighboursOf: (document: unknown) => readonly string[] = () => [],
): Promise<{ values: unknown[]; refused: Refusal[] }> {
  const refused: Refusal[] = []
  const followed = await reader.each(values, async (value): Promise<unknown[]> => {
    if (typeof value !== 'string') return [value]
    const answer = await reader.read(value)
    if (!answer.ok) {
      refused.push({ reason: 'unreadable_seller', name: value, detail: answer.detail })
      return []
    }
    const documents = [parseJson(answer.text)]
    for (const address of neighboursOf(documents[0])) {
      const other = await reader.read(address)
      if (other.ok) documents.push(parseJson(other.text))
    }
    return documents.map((document) => new ReadDocument(value, document))
  })
  return { values: followed.flat(), refused }
}
