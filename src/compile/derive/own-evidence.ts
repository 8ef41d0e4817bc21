import { groupOperators } from '../../domain/independence/operators.ts'
import { CASH_LIKE_CATEGORY, findVouched, VOUCHING } from '../../domain/independence/vouching.ts'
import {
  NO_PAYOUTS,
  type PayoutFacts,
  type PayoutStanding,
} from '../../domain/owners/payout-standing.ts'
import type { Measured } from '../../domain/trust/evidence.ts'
import type { PaymentFacts } from '../../domain/trust/ledger-facts.ts'
import { toOwnEvidence } from '../../domain/trust/measured-settlements.ts'
import { largestOf } from '../../domain/wire/extremes.ts'

export interface MarketFacts {
  /** Of every listing there is. */
  payouts: readonly PayoutFacts[]
  standings: ReadonlyMap<string, PayoutStanding>
  categoriesOf: (id: string) => readonly string[]
  /** Domains of operators that are surely independent. */
  seeds: ReadonlySet<string>
}

export interface JudgedSales {
  evidence: Map<string, Measured>
  /** Operators on the list that are measured. */
  measuredOperators: number
}

/**
 * What this service saw paid itself, as evidence by listing id, without the buyers nobody independent
 * vouches for. That rule holds where enough of the known operators were measured; elsewhere all count.
 */
export function judgeSales(
  { asOf, sales, metered }: PaymentFacts,
  market: MarketFacts,
): JudgedSales {
  const { seeds } = market
  const measured = new Set(
    market.payouts
      .filter(({ id, owner }) => seeds.has(owner) && metered.has(id))
      .map(({ owner }) => owner),
  )
  const vouchedOf =
    measured.size < VOUCHING.measuredSeeds ? null : findVouchedByWindow(sales, market)
  const evidence = new Map(
    [...sales].map(([id, own]) => {
      const vouched = vouchedOf?.map((window) => window.get(id) ?? new Set<string>()) ?? null
      return [id, toOwnEvidence(own, { asOf, vouched })]
    }),
  )
  return { evidence, measuredOperators: measured.size }
}

function findVouchedByWindow(
  sales: PaymentFacts['sales'],
  { payouts, standings, seeds, categoriesOf }: MarketFacts,
): ReadonlyMap<string, ReadonlySet<string>>[] {
  const facts = payouts.map(({ id, owner, proven }) => {
    const { owned } = standings.get(id) ?? NO_PAYOUTS
    return { id, owner, owned, proven: proven.filter((payout) => owned.includes(payout)) }
  })
  const operatorOf = groupOperators(facts, seeds)
  const operatorsOf = (own: readonly { id: string }[]) =>
    new Set(own.flatMap(({ id }) => operatorOf.get(id) ?? []))
  const known = {
    operatorOf,
    seeds: operatorsOf(facts.filter(({ owner }) => seeds.has(owner))),
    cashLike: operatorsOf(facts.filter(({ id }) => categoriesOf(id).includes(CASH_LIKE_CATEGORY))),
  }
  const windows = largestOf(
    [...sales.values()].map((own) => own.windows.length),
    0,
  )
  return Array.from({ length: windows }, (_, n) => {
    const paidIn = (from: number, to?: number) =>
      new Map([...sales].map(([id, own]) => [id, own.windows.slice(from, to).flat()]))
    return findVouched({ payments: paidIn(n, n + 1), earlier: paidIn(n + 1), ...known })
  })
}
