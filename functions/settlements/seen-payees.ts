import { readMppTerms } from '../../src/domain/probe/read/mpp-terms.ts'
import { readX402Terms } from '../../src/domain/probe/read/x402-terms.ts'
import { type RawHeaders, valuesOf } from '../../src/domain/relay/relayed-headers.ts'

/** The longest an offer may wait for its payment, with room. */
const KEPT_MS = 3_600_000
/** Other terms of one listing that are kept; a seller whose terms stay the same has one. */
const MOST_OF_ONE = 100
const MOST_LISTINGS = 2_000
/** A challenge is a few hundred bytes, terms of many offers some thousands. */
const MOST_LENGTH = 16_384

/**
 * Whom sellers' 402s named to callers of this relay. Some sellers have a new address for each payment:
 * what was paid to one counts where this very server passed on the 402 that named it, before it was
 * paid. Headers are kept as they came and read only when a payment asks.
 *
 * Known limits: another instance has not seen it, a restart forgets it, and terms in a body alone
 * (x402 version 1) are not read. Such payments are not counted, and nothing is guessed.
 */
export function createSeenPayees() {
  /** By listing and by what was said, the first time it was, in the order it was said last. */
  const seen = new Map<string, Map<string, { first: number; last: number }>>()
  return {
    note(listingId: string, response: RawHeaders, at: number): void {
      const said = termsOf(response)
      if (said === null) return
      const own = seen.get(listingId) ?? new Map()
      const known = own.get(said)
      const first = known !== undefined && at - known.last < KEPT_MS ? known.first : at
      own.delete(said)
      own.set(said, { first, last: at })
      keepNewest(own, MOST_OF_ONE)
      seen.delete(listingId)
      seen.set(listingId, own)
      keepNewest(seen, MOST_LISTINGS)
    },
    /** Payouts (CAIP-10) on one chain that were named between an hour before a moment and then. */
    namedBefore(listingId: string, network: string, at: number): string[] {
      const said = [...(seen.get(listingId) ?? [])]
      const inTime = said.filter(([, { first, last }]) => first <= at && last > at - KEPT_MS)
      const named = inTime.flatMap(([terms]) => payeesOf(terms, network))
      return [...new Set(named)]
    },
  }
}

/** What says who is to be paid, as text; null where nothing does. */
function termsOf(response: RawHeaders): string | null {
  const x402 = valuesOf(response, 'payment-required').slice(0, 1)
  const mpp = valuesOf(response, 'www-authenticate').filter((line) => /\bpayment\s/i.test(line))
  const said = JSON.stringify([x402, mpp])
  return x402.length + mpp.length === 0 || said.length > MOST_LENGTH ? null : said
}

function payeesOf(said: string, network: string): string[] {
  const [x402, mpp]: [string[], string[]] = JSON.parse(said)
  const headers = new Map([
    ['payment-required', x402],
    ['www-authenticate', mpp],
  ])
  const answer = { status: 402, headers, body: '', cut: null, ms: 0 }
  return [readX402Terms(answer), readMppTerms(answer)].flatMap((read) =>
    (read.found ? read.terms : []).flatMap(({ payout }) =>
      payout?.startsWith(`${network}:`) ? [payout] : [],
    ),
  )
}

function keepNewest<Value>(kept: Map<string, Value>, most: number): void {
  for (const oldest of kept.keys()) {
    if (kept.size <= most) return
    kept.delete(oldest)
  }
}
