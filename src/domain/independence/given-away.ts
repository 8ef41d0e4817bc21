import type { Settlement } from '../settlement/settlement.ts'
import { createFlowNetwork, UNLIMITED } from './max-flow.ts'
import { toWallet } from './operators.ts'

/** A counted payment of the window, as one listing's. */
export interface Purchase {
  /** The payment itself: one to a payout that listings share stands with each of them. */
  payment: string
  listing_id: string
  payer: string
  /** Millionths of a dollar. */
  micro_usd: number
}

/**
 * What the buyers of a listing have irrevocably spent with others: the least a cheat would have had
 * to give away to people it does not control, had it invented them all.
 *
 * It is a maximum flow, as in Levien's Advogato: from the listing's counted buyers to what they paid
 * other operators, from those to whoever else paid them, and so on, into a public list of operators
 * known to be independent. No dollar counts twice, each wallet passes on a bounded sum, and by the
 * min-cut theorem no ring, however shaped, gets more out than its wallets really paid to operators
 * outside it and strangers really paid to its own shops. Buyers that mostly overlap need no
 * threshold that could be gamed: an operator whose buyers are the listing's own vouches for nothing
 * that those buyers have not given away themselves.
 */
export interface Market {
  /** After exclusions. */
  purchases: readonly Purchase[]
  /** Operator by listing id; payments to listings that are not in it are left out. */
  operatorOf: ReadonlyMap<string, string>
  /** Operators known to be independent of each other and of everybody here. */
  seeds: ReadonlySet<string>
  /** Wallets an operator takes payments with, by operator. */
  walletsOf: ReadonlyMap<string, ReadonlySet<string>>
  /** Operators that sell what is as good as money: whoever pays them has given nothing away. */
  cashLike: ReadonlySet<string>
}

export const GIVEN_AWAY = {
  /** Dollars one wallet can stand for, whatever it spent. */
  capUsd: 5,
  /** The least that settling a payment has cost on any chain counted here, whoever paid it. */
  feeUsd: 0.00001,
} as const

/** Category of listings whose operator sells gift cards, credit or cash. */
export const CASH_LIKE_CATEGORY = 'offramp_giftcards_payouts'

const MICRO = 1_000_000
export const CAP_MICRO = GIVEN_AWAY.capUsd * MICRO

export function toPurchases(payments: ReadonlyMap<string, readonly Settlement[]>): Purchase[] {
  return [...payments].flatMap(([listing_id, settlements]) =>
    settlements.map(({ network, transaction, log_index, payer, usd }) => ({
      payment: `${network} ${transaction} ${log_index}`,
      listing_id,
      payer: toWallet(payer),
      micro_usd: Math.round(usd * MICRO),
    })),
  )
}

/**
 * @param asked ids of the listings that are asked for; all when left out
 * @returns millionths of a dollar by listing id, for each of them that has a counted purchase
 */
export function measureGivenAway(market: Market, asked?: readonly string[]): Map<string, number> {
  const known = market.purchases.filter(({ listing_id }) => market.operatorOf.has(listing_id))
  const { network, wallets, operators, sink } = toNetwork(known, market)
  const given = new Map<string, number>()
  const isAsked = ({ listing_id }: Purchase) => asked?.includes(listing_id) ?? true
  for (const [id, own] of Map.groupBy(known.filter(isAsked), ({ listing_id }) => listing_id)) {
    const operator = market.operatorOf.get(id) ?? ''
    const mine = market.walletsOf.get(operator)
    const buyers = new Set(own.map(({ payer }) => payer))
    const roots = [...buyers].flatMap((wallet) => {
      const node = wallets.get(wallet)
      return node === undefined || mine?.has(wallet) === true ? [] : [node]
    })
    given.set(id, network.maxFlow(roots, sink, operators.get(operator) ?? -1))
  }
  return given
}

/** A wallet is two nodes with its cap between them; an operator is one. */
function toNetwork(purchases: readonly Purchase[], { operatorOf, seeds, cashLike }: Market) {
  const paid = sumPayments(purchases, operatorOf)
  const wallets = new Map([...paid.keys()].map((wallet, index) => [wallet, 2 * index]))
  const names = new Set([...paid.values()].flatMap((sums) => [...sums.keys()]))
  const operators = new Map([...names].map((name, index) => [name, 2 * paid.size + index]))
  const sink = 2 * paid.size + names.size
  const network = createFlowNetwork(sink + 1)
  for (const [wallet, sums] of paid) {
    const entry = wallets.get(wallet) ?? 0
    network.addEdge(entry, entry + 1, CAP_MICRO)
    for (const [operator, micros] of sums) {
      if (cashLike.has(operator)) continue
      const node = operators.get(operator) ?? 0
      network.addEdge(entry + 1, node, micros)
      network.addEdge(node, entry, micros)
    }
  }
  for (const [name, node] of operators) if (seeds.has(name)) network.addEdge(node, sink, UNLIMITED)
  return { network, wallets, operators, sink }
}

/** What each wallet paid each operator; a payment that stands with several listings of one is one. */
function sumPayments(
  purchases: readonly Purchase[],
  operatorOf: Market['operatorOf'],
): Map<string, Map<string, number>> {
  const paid = new Map<string, Map<string, number>>()
  const seen = new Set<string>()
  for (const { payment, payer, listing_id, micro_usd } of purchases) {
    const operator = operatorOf.get(listing_id) ?? ''
    const key = `${payment} ${operator}`
    if (seen.has(key)) continue
    seen.add(key)
    const sums = paid.get(payer) ?? new Map<string, number>()
    paid.set(payer, sums.set(operator, (sums.get(operator) ?? 0) + micro_usd))
  }
  return paid
}
