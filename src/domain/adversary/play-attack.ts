import { GIVEN_AWAY, measureGivenAway, toPurchases } from '../independence/given-away.ts'
import { judgeIndependence } from '../independence/independence.ts'
import { findFundings, groupOperators } from '../independence/operators.ts'
import { judgePayouts } from '../owners/payout-standing.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { type OwnEvidence, toOwnEvidence } from '../trust/measured-settlements.ts'
import { judgeTrust } from '../trust/trust.ts'
import { indexTransfers } from '../wash/chain-order.ts'
import { type Attack, type Plan, REWARD_USD } from './attacks.ts'
import { type HonestMarket, payoutOf } from './honest-market.ts'
import { carryOut, giftShopOf, type Moves, ownShopsOf, TARGET } from './moves.ts'

/**
 * One attack against the product's own exclusions and scores: payments are made up, and everything
 * that judges them is what judges real ones.
 */
export interface Played {
  /** `hub-trust-v0.1` and `v0.2`; 0 for no score. */
  v01: number
  v02: number
}

/** What money costs while it goes round. */
export const INTEREST_A_YEAR = 0.1

/** Dollars that go round: what was paid is back at the wallets after a day. */
export function tiedUsd({ days, listings }: Attack, { volume_usd }: Plan): number {
  return (volume_usd / Math.max(1, days)) * listings
}

/**
 * Dollars that are gone for good: what strangers got, fees, and interest on what goes round. Where
 * several listings share the wallets, the part of one.
 */
export function costOf(attack: Attack, plan: Plan): number {
  const { listings, elsewhere, funding, payers, days } = attack
  const spends = elsewhere === 'nowhere' ? 0 : plan.wallets
  const fills = funding === 'two_hops' ? 3 : funding === 'one_hop' ? 2 : 1
  const shared = spends * 2 + plan.wallets * fills
  const given = plan.wallets * plan.elsewhere_usd * attack.lost
  const rewards = payers === 'rented' ? plan.payments * REWARD_USD : 0
  const interest = ((tiedUsd(attack, plan) / listings) * INTEREST_A_YEAR * days) / 365
  const fees = (plan.payments + shared / listings) * GIVEN_AWAY.feeUsd
  return given / listings + rewards + interest + fees
}

export function playAttack(
  attack: Attack,
  plan: Plan,
  { market, asOf }: { market: HonestMarket; asOf: number },
): Played {
  const moves = carryOut(attack, plan, { market, asOf })
  const ownShops = ownShopsOf(attack, plan)
  const payouts = toStandings(attack, ownShops, market)
  const own = payouts.get(TARGET)?.counts.includes(payoutOf(TARGET)) ?? false
  const paid = attack.payout === 'own' && own ? once(moves.settlements) : borrowed(market, payouts)
  const evidence = toOwnEvidence(paid, toKnowledge(moves, asOf))
  if (evidence === undefined) return { v01: 0, v02: 0 }
  const payments = new Map([...market.payments, ...moves.elsewhere, [TARGET, evidence.counted]])
  const cashLike = new Set(attack.elsewhere === 'gift_cards' ? [giftShopOf(market)] : [])
  const given = measureFor(payments, moves, { market, cashLike })
  return toScores(evidence, given, payouts.get(TARGET)?.sharers ?? 1)
}

/** Honest sales by the same rules; their buyers are people of the market. */
export function playHonest(
  sales: readonly Settlement[],
  { market, asOf }: { market: HonestMarket; asOf: number },
): Played {
  const moves = { settlements: [], elsewhere: new Map(market.payments), transfers: [] }
  const evidence = toOwnEvidence(sales, toKnowledge(moves, asOf))
  if (evidence === undefined) return { v01: 0, v02: 0 }
  const payments = new Map([...market.payments, [TARGET, evidence.counted]])
  return toScores(evidence, measureFor(payments, moves, { market, cashLike: new Set() }), 1)
}

function toScores({ measured }: OwnEvidence, given: number, sharers: number): Played {
  const verdict = judgeTrust(measured, sharers)
  return {
    v01: verdict.evidence === 'verified_non_wash_payments' ? verdict.score : 0,
    v02: judgeIndependence(measured, given, sharers).score ?? 0,
  }
}

/** The ledger's key: a payment counts once, ever, whoever reports it and how often. */
function once(settlements: readonly Settlement[]): Settlement[] {
  const keyOf = ({ network, transaction, log_index }: Settlement) =>
    `${network} ${transaction} ${log_index}`
  return [...new Map(settlements.map((each) => [keyOf(each), each])).values()]
}

/** Payments to a payout that another publishes too, if it counts for the listing. */
function borrowed(
  market: HonestMarket,
  payouts: ReturnType<typeof toStandings>,
): readonly Settlement[] {
  const popular = market.knownShops[0] ?? ''
  const counts = payouts.get(TARGET)?.counts.includes(payoutOf(popular)) ?? false
  return counts ? (market.payments.get(popular) ?? []) : []
}

function toStandings({ payout }: Attack, ownShops: readonly string[], market: HonestMarket) {
  const [popular = ''] = market.knownShops
  const facts = [TARGET, ...ownShops, ...market.knownShops, ...market.smallShops].map((shop) => ({
    id: shop,
    owner: `${shop}.example`,
    published: [payoutOf(shop === TARGET && payout === 'popular' ? popular : shop)],
    named: [],
    proven: [],
  }))
  return judgePayouts(facts)
}

function toKnowledge({ transfers, elsewhere }: Moves, asOf: number) {
  const buyers = new Set([...elsewhere.values()].flat().map(({ payer }) => payer))
  return {
    wallets: [payoutOf(TARGET)],
    transfers: indexTransfers(transfers),
    hasPaidOthers: (wallet: string) => buyers.has(wallet),
    asOf,
  }
}

/** Millionths of a dollar that the listing's counted buyers gave away. */
function measureFor(
  payments: ReadonlyMap<string, readonly Settlement[]>,
  { transfers }: Moves,
  { market, cashLike }: { market: HonestMarket; cashLike: ReadonlySet<string> },
): number {
  const shops = [...new Set([TARGET, ...payments.keys()])]
  const facts = shops.map((id) => ({ id, owner: `${id}.example`, payouts: [`::${payoutOf(id)}`] }))
  const domains = new Set(market.knownShops.map((shop) => `${shop}.example`))
  const fundings = findFundings([...payments.values()].flat(), transfers)
  const operatorOf = groupOperators(facts, fundings, domains)
  const operatorsOf = (ids: Iterable<string>) =>
    new Set([...ids].map((id) => operatorOf.get(id) ?? ''))
  const seeds = operatorsOf(market.knownShops)
  const walletsOf = new Map([[operatorOf.get(TARGET) ?? '', new Set([payoutOf(TARGET)])]])
  const purchases = toPurchases(payments)
  const flow = { purchases, operatorOf, seeds, walletsOf, cashLike: operatorsOf(cashLike) }
  const given = measureGivenAway(flow, [TARGET])
  return given.get(TARGET) ?? 0
}
