import {
  byGenerosity,
  countListings,
  type Market,
  readWallets,
  type Wallet,
} from './buying-wallets.ts'
import { createFlowNetwork, type FlowNetwork, UNLIMITED } from './max-flow.ts'

export const VOUCHING = {
  /** Dollars a wallet must have given to others for each listing it bought from. */
  usdAListing: 0.25,
  /** Operators that must be measured, of those on the list, for the rule to hold. */
  measuredSeeds: 3,
  /** Sellers between a wallet and the list, at most. */
  sellersBetween: 6,
} as const

/** What whoever invented these buyers of one listing would have given away to others. */
export function costOfBuyers(buyers: number): number {
  return buyers * VOUCHING.usdAListing
}

/** Category of listings whose operator sells gift cards, credit or cash. */
export const CASH_LIKE_CATEGORY = 'offramp_giftcards_payouts'

const SHARE = VOUCHING.usdAListing * 1_000_000
const [SOURCE, SINK] = [0, 1]
/** Times that what flows beyond whole shares is given to others: after a few there is little left. */
const ROUNDS = 1
const LAST = Number.POSITIVE_INFINITY
/** From the source through a wallet's payment to an operator and out; and through one more seller. */
const STEPS = { direct: 4, aSeller: 3 } as const

/**
 * Whose payments count: those of wallets that, in the window, gave money of their own to sellers who
 * are independent of the listing.
 *
 * It is one maximum flow over the whole market, after Levien's Advogato: from each wallet through what
 * it paid, to the operators of a public list, or through an operator to whoever else paid that one and
 * what those paid. No dollar vouches twice, so by the min-cut theorem a ring of wallets and shops,
 * however shaped, is vouched for no further than it gave money to others and strangers paid its shops.
 *
 * @returns the wallets that are vouched for, by listing id
 */
export function findVouched(market: Market): Map<string, Set<string>> {
  const wallets = readWallets(market)
  const network = createFlowNetwork()
  const nodes = createNodes()
  const flows: OwnFlow[] = []
  for (const each of byGenerosity(wallets, market)) {
    const flow = addWallet(network, each, { market, nodes })
    if (flow !== null) flows.push(flow)
  }
  for (const seed of market.seeds) network.addEdge(nodes.of(seed), SINK, UNLIMITED)
  fillInShares(network, flows)
  // A seller's further listings, and sellers on the list, whom people know, take from no other seller.
  for (const { all, later } of flows) network.limit(all, network.flowOf(all) + SHARE * later)
  fillInShares(network, flows)
  const vouched = new Map<string, Set<string>>()
  for (const flow of flows)
    for (const id of dealOut(flow, network, market.seeds))
      vouched.set(id, (vouched.get(id) ?? new Set()).add(flow.name))
  return vouched
}

/**
 * Half a share is none. What flows beyond whole shares is taken back and given to those who lack least,
 * some times over.
 */
function fillInShares(network: FlowNetwork, flows: readonly OwnFlow[]): void {
  const fill = () =>
    network.fill(SOURCE, SINK, STEPS.direct + STEPS.aSeller * VOUCHING.sellersBetween)
  fill()
  for (let round = 0; ; round++) {
    const parts = flows.map(({ all }) => ({ all, part: network.flowOf(all) % SHARE }))
    for (const { all, part } of parts) network.limit(all, network.flowOf(all) - part)
    network.empty()
    fill()
    const spare = parts.reduce((sum, { part }) => sum + part, 0)
    if (spare === 0 || round === ROUNDS) return
    const next = parts.filter(({ part }) => part > 0).sort((a, b) => b.part - a.part)
    for (const { all } of next.slice(0, Math.ceil(spare / SHARE)))
      network.limit(all, network.flowOf(all) + SHARE)
    fill()
  }
}

/** Edges of what a wallet gave for its own sake: from the source, and by operator. */
interface OwnFlow {
  name: string
  bought: Wallet['bought']
  /** Listings it bought from beyond the first of each operator that is not on the list. */
  later: number
  all: number
  to: Map<string, number>
}

type Nodes = ReturnType<typeof createNodes>

function createNodes() {
  let last = SINK
  const operators = new Map<string, number>()
  const add = () => ++last
  return {
    add,
    of(operator: string): number {
      const node = operators.get(operator) ?? add()
      operators.set(operator, node)
      return node
    },
  }
}

/**
 * A wallet is two nodes: what it gave for its own sake leaves one, what passes through it the other, and
 * both share what it paid each operator. For its own sake it gives an operator no more than its listings
 * of others need: what it paid a seller vouches for nothing it bought from that seller.
 *
 * @returns null where it did not give enough for a single listing
 */
function addWallet(
  network: FlowNetwork,
  [name, { paid, bought }]: readonly [string, Wallet],
  { market, nodes }: { market: Market; nodes: Nodes },
): OwnFlow | null {
  const listings = countListings(bought)
  const others = [...bought.keys()].filter((operator) => !market.seeds.has(operator))
  const later = listings - others.length
  const real = [...paid].filter(([operator]) => !market.cashLike.has(operator))
  const limits = new Map(
    real.map(([operator, micros]) => {
      const others = listings - (bought.get(operator)?.size ?? 0)
      return [operator, Math.min(micros, SHARE * others)]
    }),
  )
  const isEnough = [...limits.values()].reduce((sum, limit) => sum + limit, 0) >= SHARE
  const [node, passing] = [nodes.add(), nodes.add()]
  const all = isEnough ? network.addEdge(SOURCE, node, SHARE * others.length) : 0
  const to = new Map<string, number>()
  for (const [operator, micros] of real) {
    const target = nodes.of(operator)
    const payment = nodes.add()
    network.addEdge(payment, target, micros)
    network.addEdge(passing, payment, micros)
    if (isEnough) to.set(operator, network.addEdge(node, payment, limits.get(operator) ?? 0))
    if (!market.seeds.has(operator)) network.addEdge(target, passing, micros)
  }
  return isEnough ? { name, bought, all, to, later } : null
}

/**
 * The listings a wallet's flow is enough for: one of each operator before a second one of any, so that a
 * seller with many listings takes nothing from others, and known operators' last. Any two operators
 * leave every dollar to be used, so it is enough that all fit together, and those of each operator in
 * what went to the others.
 */
function dealOut(
  { bought, all, to }: OwnFlow,
  network: FlowNetwork,
  seeds: Market['seeds'],
): string[] {
  const total = network.flowOf(all)
  const ranked = [...bought].flatMap(([operator, listings]) => {
    const flow = to.get(operator)
    const room = Math.floor((total - (flow === undefined ? 0 : network.flowOf(flow))) / SHARE)
    return [...listings]
      .sort(([a, paidA], [b, paidB]) => paidB - paidA || (a < b ? -1 : 1))
      .slice(0, room)
      .map(([id, paid], rank) => ({ id, paid, rank: seeds.has(operator) ? LAST : rank }))
  })
  return ranked
    .sort(
      (a, b) =>
        (a.rank === b.rank ? 0 : a.rank - b.rank) || b.paid - a.paid || (a.id < b.id ? -1 : 1),
    )
    .slice(0, Math.floor(total / SHARE))
    .map(({ id }) => id)
}
