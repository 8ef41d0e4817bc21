import {
  CASH_LIKE_CATEGORY,
  measureGivenAway,
  toPurchases,
} from '../../domain/independence/given-away.ts'
import { findFundings, groupOperators, toWallet } from '../../domain/independence/operators.ts'
import type { PayoutStanding } from '../../domain/owners/payout-standing.ts'
import type { LedgerFacts } from '../../domain/trust/ledger-facts.ts'
import type { Content } from '../content/read-content.ts'
import type { ListingFile } from '../content/read-listings.ts'
import { hostAt, ownerAt } from './payout-standings.ts'

/**
 * What the buyers of each listing gave away elsewhere, millionths of a dollar by id; of listings
 * whose payments are known one by one.
 */
export function readGivenAway(
  files: readonly ListingFile[],
  payouts: ReadonlyMap<string, PayoutStanding>,
  {
    tables,
    ledger,
    baseUrl,
  }: Pick<Content, 'tables'> & {
    ledger: Pick<LedgerFacts, 'payments' | 'transfers'>
    baseUrl: string
  },
): Map<string, number> {
  if (ledger.payments.size === 0) return new Map()
  const fundings = findFundings([...ledger.payments.values()].flat(), ledger.transfers)
  const facts = files.map((file) => ({
    id: file.id,
    owner: ownerAt(hostAt(file, baseUrl) ?? '', tables.sharedHosts),
    payouts: payouts.get(file.id)?.counts ?? [],
    isCashLike: file.facts.categories.some((id) => id === CASH_LIKE_CATEGORY),
  }))
  const domains = new Set(tables.independentOperators.map(({ domain }) => domain))
  const operatorOf = groupOperators(facts, fundings, domains)
  const operatorsOf = (own: typeof facts) => own.flatMap(({ id }) => operatorOf.get(id) ?? [])
  const wallets = Map.groupBy(facts, ({ id }) => operatorOf.get(id) ?? '')
  return measureGivenAway({
    purchases: toPurchases(ledger.payments),
    operatorOf,
    seeds: new Set(operatorsOf(facts.filter(({ owner }) => domains.has(owner)))),
    cashLike: new Set(operatorsOf(facts.filter(({ isCashLike }) => isCashLike))),
    walletsOf: new Map(
      [...wallets].map(([operator, own]) => [
        operator,
        new Set(own.flatMap((each) => each.payouts.map(toWallet))),
      ]),
    ),
  })
}
