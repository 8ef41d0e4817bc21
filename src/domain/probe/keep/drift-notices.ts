import { normalizePayout } from '../../listing/payout.ts'
import type { Evidence } from '../../trust/evidence.ts'
import type { Notice } from '../../trust/interface.ts'
import type { PaymentTerm } from '../read/finding.ts'
import type { ProbePlan } from './probe-plan.ts'

/** How long a change of payout address stays on the page once it was seen. */
const PAYOUT_NOTICE_MS = 30 * 86_400_000

/** Notices that follow from a seller's own terms; probes alone write and clear them. */
const DRIFT = ['price_changed', 'payout_changed', 'network_changed'] as const
type DriftId = (typeof DRIFT)[number]

/**
 * The notices of a listing after its seller named its terms: what drifted from the listing, and what
 * changed since the last look. A notice that still holds keeps its first date.
 *
 * @param before evidence as it was before this probe
 * @param at time of the probe
 */
export function judgeDrift(
  before: Evidence,
  terms: readonly PaymentTerm[],
  declared: ProbePlan['declared'],
  at: string,
): Notice[] {
  const old = before.notices ?? []
  const others = old.filter(({ id }) => !DRIFT.some((drift) => drift === id))
  const found: Record<DriftId, string | null> = {
    price_changed: findPriceDrift(terms, declared),
    payout_changed: findPayoutDrift(before, terms, declared),
    network_changed: findNetworkDrift(terms, declared),
  }
  const drifted = DRIFT.flatMap((id): Notice[] => {
    const note = found[id]
    const known = old.find((notice) => notice.id === id)
    if (note === null)
      return id === 'payout_changed' && known !== undefined && isFresh(known, at) ? [known] : []
    return [known?.note === note ? known : { id, note, at }]
  })
  return [...others, ...drifted].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
}

/** Buyers choose the cheapest offer: only when that is above what the listing says has it drifted. */
function findPriceDrift(
  terms: readonly PaymentTerm[],
  { max_usd }: ProbePlan['declared'],
): string | null {
  const prices = terms.flatMap(({ usd }) => (usd === null ? [] : [usd]))
  if (max_usd === null || prices.length === 0) return null
  const lowest = Math.min(...prices)
  return lowest > max_usd
    ? `The seller asked $${lowest}; the listing says at most $${max_usd}.`
    : null
}

function findNetworkDrift(
  terms: readonly PaymentTerm[],
  { networks }: ProbePlan['declared'],
): string | null {
  if (networks.length === 0) return null
  const offered = [...new Set(terms.flatMap(({ network }) => (network === null ? [] : [network])))]
  const unnamed = offered.filter((network) => !networks.includes(network)).sort()
  if (unnamed.length === 0) return null
  const isAll = unnamed.length === offered.length
  return `The seller ${isAll ? 'offers payment on' : 'also offers payment on'} ${unnamed.slice(0, 4).join(', ')}; the listing names ${networks.slice(0, 2).join(', ')}.`
}

/** Chain by chain: every address named there is one that neither the listing nor an earlier look had. */
function findPayoutDrift(
  before: Evidence,
  terms: readonly PaymentTerm[],
  { payouts }: ProbePlan['declared'],
): string | null {
  const seen = (before.interface?.payouts ?? []).map(({ payout }) => payout)
  // What the listing publishes is the measure; without it, what was seen before.
  const chainsPublished = new Set(payouts.map(chainOf))
  const known = [...payouts, ...seen.filter((payout) => !chainsPublished.has(chainOf(payout)))]
  const named = terms.flatMap(({ payout }) => (payout === null ? [] : [payout]))
  for (const chain of new Set(named.map(chainOf))) {
    const now = named.filter((payout) => chainOf(payout) === chain)
    const then = known.filter((payout) => chainOf(payout) === chain)
    const isSame = now.some((payout) =>
      then.some((other) => normalizePayout(other) === normalizePayout(payout)),
    )
    if (then.length > 0 && !isSame)
      return `The seller's terms pay ${now[0]}; ${chainsPublished.has(chain) ? 'the listing publishes' : 'before they paid'} ${then[0]}.`
  }
  return null
}

function chainOf(payout: string): string {
  return payout.slice(0, payout.lastIndexOf(':'))
}

function isFresh(notice: Notice, at: string): boolean {
  return Date.parse(at) - Date.parse(notice.at) < PAYOUT_NOTICE_MS
}
