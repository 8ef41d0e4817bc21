import { chainOf, normalizePayout } from '../../listing/caip-account.ts'
import type { Evidence } from '../../trust/evidence.ts'
import type { Interface, Notice } from '../../trust/interface.ts'
import { smallestOf } from '../../wire/extremes.ts'
import type { Finding, PaymentTerm } from '../read/finding.ts'
import { toInertLine } from '../read/inert-text.ts'
import {
  isSilent,
  readOperations,
  type SeenOperations,
  toOperationName,
} from './merge-operations.ts'
import type { ProbePlan } from './probe-plan.ts'

/** A notice holds one sentence; addresses of operations can be long. */
const MAX_NOTE_LENGTH = 300
const MAX_NAMED = 2

/** How long a change of payout address stays on the page. */
const PAYOUT_NOTICE_MS = 30 * 86_400_000

/** Notices that follow from a seller's own terms; only probes write and clear them. */
const DRIFT = ['price_changed', 'payout_changed', 'network_changed'] as const
type DriftId = (typeof DRIFT)[number]

/**
 * What drifted from the listing, operation by operation, and what changed since the last probe. A
 * notice that still applies keeps its first date.
 */
export function judgeDrift(
  before: Evidence,
  finding: Finding,
  declared: ProbePlan['declared'],
  at: string,
): Notice[] {
  const asked = toAskedTerms(before.interface, finding, declared, at)
  const old = before.notices ?? []
  const others = old.filter(({ id }) => !DRIFT.some((drift) => drift === id))
  const found: Record<DriftId, string | null> = {
    price_changed: findPriceDrift(asked),
    payout_changed: findPayoutDrift(before, asked, declared),
    network_changed: findNetworkDrift(asked, declared),
  }
  const drifted = DRIFT.flatMap((id): Notice[] => {
    const note = found[id] === null ? null : toInertLine(found[id], MAX_NOTE_LENGTH)
    const known = old.find((notice) => notice.id === id)
    const isFresh = known && Date.parse(at) - Date.parse(known.at) < PAYOUT_NOTICE_MS
    if (note === null) return id === 'payout_changed' && isFresh ? [known] : []
    return [known?.note === note ? known : { id, note, at }]
  })
  return toSorted([...others, ...drifted])
}

/** By id, so that runs change few lines. */
export function toSorted(notices: readonly Notice[]): Notice[] {
  return notices.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
}

/** Buyers choose the cheapest offer: it has only drifted if that is above the listing's price. */
function findPriceDrift(asked: readonly AskedTerms[]): string | null {
  const dear = asked.flatMap(({ operation, terms, max_usd }) => {
    const prices = terms.flatMap(({ usd }) => (usd === null ? [] : [usd]))
    const lowest = smallestOf(prices)
    return max_usd !== null && prices.length > 0 && lowest > max_usd
      ? [{ operation, lowest, max_usd }]
      : []
  })
  const [first] = dear
  if (first === undefined) return null
  if (asked.length === 1)
    return `The seller asked $${first.lowest}; the listing says at most $${first.max_usd}.`
  const named = dear
    .slice(0, MAX_NAMED)
    .map(
      ({ operation, lowest, max_usd }) =>
        `$${lowest}${toPlace(operation)} (the listing says at most $${max_usd})`,
    )
  const more = dear.length - named.length
  return `The seller asked ${named.join(', ')}${more > 0 ? ` and too much for ${more} more` : ''}.`
}

function toPlace(operation: AskedTerms['operation']): string {
  return operation === null ? '' : ` for ${toOperationName(operation)}`
}

function findNetworkDrift(
  asked: readonly AskedTerms[],
  { networks }: ProbePlan['declared'],
): string | null {
  if (networks.length === 0) return null
  const terms = asked.flatMap((each) => each.terms)
  const offered = [...new Set(terms.flatMap(({ network }) => (network === null ? [] : [network])))]
  const unnamed = offered.filter((network) => !networks.includes(network)).sort()
  if (unnamed.length === 0) return null
  const isAll = unnamed.length === offered.length
  return `The seller ${isAll ? 'offers payment on' : 'also offers payment on'} ${unnamed.slice(0, 4).join(', ')}; the listing names ${networks.slice(0, 2).join(', ')}.`
}

/** Operation by operation and chain by chain: the first unexpected address. */
function findPayoutDrift(
  before: Evidence,
  asked: readonly AskedTerms[],
  { payouts }: ProbePlan['declared'],
): string | null {
  const seen = (before.interface?.payouts ?? []).map(({ payout }) => payout)
  const notes = asked.flatMap(({ operation, terms, isNew }) => {
    const named = terms.flatMap(({ payout }) => (payout === null ? [] : [payout]))
    const place = asked.length === 1 ? '' : toPlace(operation)
    return [...Map.groupBy(named, chainOf)].flatMap(([chain, now]) => {
      const isHere = (payout: string) => chainOf(payout) === chain
      const words = judgePayees(now, payouts.filter(isHere), isNew ? [] : seen.filter(isHere))
      return words === null ? [] : [`The seller's terms${place} pay ${words}.`]
    })
  })
  return notes[0] ?? null
}

/** Each address must be a published one; where none is published, a known one is enough. */
function judgePayees(
  now: readonly string[],
  published: readonly string[],
  seen: readonly string[],
): string | null {
  const odd = now.find((payout) => !isAmong(payout, published))
  if (published.length > 0)
    return odd === undefined ? null : `${odd}; the listing publishes ${published[0]}`
  const isKnown = seen.length === 0 || now.some((payout) => isAmong(payout, seen))
  return isKnown ? null : `${now[0]}; before they paid ${seen[0]}`
}

function isAmong(payout: string, known: readonly string[]): boolean {
  const wanted = normalizePayout(payout)
  return known.some((other) => normalizePayout(other) === wanted)
}

/** The price of one operation, and the most according to the listing. */
interface AskedTerms {
  /** Null where an answer represents the whole listing. */
  operation: { method: string; url: string } | null
  terms: readonly PaymentTerm[]
  /** USD for one call; null where the listing names none. */
  max_usd: number | null
  /** It was not probed before: it has no former payee to have changed from. */
  isNew: boolean
}

/** From the last 402 of each: an earlier probe's where this one has none. */
function toAskedTerms(
  before: Interface | undefined,
  finding: Finding,
  declared: ProbePlan['declared'],
  at: string,
): AskedTerms[] {
  const known = readOperations(before, at)
  const { sight, others = [] } = finding
  const first: AskedTerms = {
    operation: sight?.operation ?? null,
    terms: sight?.terms ?? [],
    max_usd: declared.max_usd,
    isNew: false,
  }
  const rest = (declared.operations ?? []).map(({ method, url, max_usd }): AskedTerms => {
    const isIt = (each: { method: string; url: string }) =>
      each.method === method && each.url === url
    const answer = others.find(({ operation }) => isIt(operation))?.finding
    const last = known.find(isIt)
    const isHeard = answer !== undefined && !isSilent(answer)
    return {
      operation: { method, url },
      terms: isHeard ? (answer.sight?.terms ?? []) : recall(last),
      max_usd,
      isNew: last?.seen?.pay_to === undefined,
    }
  })
  return [first, ...rest]
}

/** The terms of an earlier 402, as far as they were kept. */
function recall(last: SeenOperations[number] | undefined): PaymentTerm[] {
  const { min_usd: usd = null, pay_to = [] } = last?.seen ?? {}
  const common = { rail: 'x402', scheme: 'exact', usd } as const
  if (pay_to.length === 0) return usd === null ? [] : [{ ...common, network: null, payout: null }]
  return pay_to.map((payout) => ({ ...common, network: chainOf(payout), payout }))
}
