import type { Interface } from '../../trust/interface.ts'
import type { Finding, PaymentTerm } from '../read/finding.ts'
import { isSilent, readOperations, type SeenOperations } from './merge-operations.ts'
import type { ProbePlan } from './probe-plan.ts'

/** What one operation asks, and the most that the listing says of it. */
export interface AskedTerms {
  /** Null where an answer stands for the whole listing. */
  operation: { method: string; url: string } | null
  terms: readonly PaymentTerm[]
  /** USD for one call; null where the listing names none. */
  max_usd: number | null
  /** Nobody asked it before: its payee can have changed from nothing. */
  isNew: boolean
}

/**
 * The terms of every operation of a listing, as its last 402 named them: of this probe, or of an
 * earlier one where it said nothing this time.
 *
 * @param before the interface before this probe
 * @param at time of the probe
 */
export function toAskedTerms(
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

/** @example chainOf('eip155:8453:0xab…') → 'eip155:8453' */
export function chainOf(payout: string): string {
  return payout.slice(0, payout.lastIndexOf(':'))
}
