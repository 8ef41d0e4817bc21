import {
  byGenerosity,
  type Market,
  type Purchase,
  type Purchases,
  readPurchases,
} from './buying-wallets.ts'
import { createFlowEdges, type FlowEdges, type FlowNetwork, UNLIMITED } from './max-flow.ts'

export const VOUCHING = {
  /** Dollars a wallet must have given to others for each listing it bought from. */
  usdAListing: 0.25,
  /** Sellers that a wallet paid less come after all others, for what is left. */
  usdToComeFirst: 0.025,
  /** Operators that must be measured, of those on the list, for the rule to hold. */
  measuredSeeds: 3,
  /** Sellers between a wallet and the list, at most. */
  sellersBetween: 6,
} as const

/** What somebody who invented these buyers of one listing would have given away to others. */
export function costOfBuyers(buyers: number): number {
  return buyers * VOUCHING.usdAListing
}

/** Category of listings whose operator sells gift cards, credit or cash. */
export const CASH_LIKE_CATEGORY = 'offramp_giftcards_payouts'

/** The most that `addWallet` adds for each purchase. */
const EDGES_A_PURCHASE = 4
const SHARE = VOUCHING.usdAListing * 1_000_000
const DUST = VOUCHING.usdToComeFirst * 1_000_000
const [SOURCE, SINK] = [0, 1]
/** Times that what flows beyond whole shares is given to others: after a few there is little left. */
const ROUNDS = 1
/** From the source through a wallet's payment to an operator and out; and through one more seller. */
const STEPS = { direct: 4, aSeller: 3 } as const

/**
 * Whose payments count: those of wallets that, in the window, gave money of their own to sellers who
 * are independent of the listing.
 *
 * It is one maximum flow over the whole market, after Levien's Advogato: from each wallet through what
 * it paid, to the operators of a public list, or through an operator to others who paid that one and what
 * those paid. No dollar vouches twice, so by the min-cut theorem a ring of wallets and shops,
 * however shaped, is vouched for no further than it gave money to others and strangers paid its shops.
 *
 * What a wallet gave goes to the sellers it bought from first. So a rival that gives a seller's buyers
 * something cannot take from him what vouches for them: he would have to come before.
 *
 * @returns the wallets that are vouched for, by listing id
 */
export function findVouched(market: Market): Map<string, Set<string>> {
  const purchases = readPurchases(market)
  const { network, flows } = toNetwork(purchases)
  fillInShares(network, flows)
  // A seller's further listings, sellers that got next to nothing, and those on the list, whom people
  // know, take from no other seller.
  for (const { all, later } of flows) network.limit(all, network.flowOf(all) + SHARE * later)
  fillInShares(network, flows)
  const vouched = new Map<string, Set<string>>()
  for (const flow of flows)
    for (const listing of dealOut(flow, purchases.of(flow.wallet), network)) {
      const id = purchases.listings[listing] ?? ''
      const name = purchases.wallets[flow.wallet] ?? ''
      vouched.set(id, (vouched.get(id) ?? new Set()).add(name))
    }
  return vouched
}

function toNetwork(purchases: Purchases): { network: FlowNetwork; flows: OwnFlow[] } {
  const { wallets, operators, of } = purchases
  const { buying, buyers } = byGenerosity(purchases)
  const bought = buyers.reduce((sum, count) => sum + count, 0)
  const edges = createFlowEdges(buying.length + EDGES_A_PURCHASE * bought + operators)
  const nodes = createNodes(wallets.length, buyers)
  const flows: OwnFlow[] = []
  const seeds = new Set<number>()
  for (const wallet of buying) {
    const own = of(wallet)
    for (const { isSeed, operator } of own) if (isSeed) seeds.add(operator)
    const flow = addWallet(edges, wallet, { bought: own, nodes })
    if (flow !== null) flows.push(flow)
  }
  for (const seed of seeds) edges.add(nodes.of(seed), SINK, UNLIMITED)
  return { network: edges.toNetwork(), flows }
}

/** Half a share does not count: what flows beyond whole shares goes to those who lack least. */
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

/** Edges of what a wallet gave for its own sake. */
interface OwnFlow {
  wallet: number
  /** Listings that take a share only after the first ones of all wallets. */
  later: number
  /** From the source; those to what it bought, gift cards left out, follow. */
  all: number
}

type Nodes = ReturnType<typeof createNodes>

/** Payments to one operator are neighbours, as a search reads them together. */
function createNodes(wallets: number, buyers: Int32Array) {
  const operatorAt = 2 + 2 * wallets
  let next = operatorAt + buyers.length
  const payments = buyers.map((count) => {
    next += count
    return next - count
  })
  return {
    own: (wallet: number) => 2 + wallet,
    passing: (wallet: number) => 2 + wallets + wallet,
    of: (operator: number) => operatorAt + operator,
    /** Another one at each call. */
    payment(operator: number): number {
      const node = payments[operator] ?? 0
      payments[operator] = node + 1
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
  edges: FlowEdges,
  wallet: number,
  { bought, nodes }: { bought: readonly Purchase[]; nodes: Nodes },
): OwnFlow | null {
  const listings = bought.reduce((sum, { listings: { length } }) => sum + length, 0)
  const first = bought.filter(({ isSeed, paid }) => !isSeed && paid >= DUST).length
  const real = bought.filter(({ isCashLike }) => !isCashLike)
  const limitOf = ({ paid, listings: own }: Purchase) =>
    Math.min(paid, SHARE * (listings - own.length))
  const isEnough = real.reduce((sum, one) => sum + limitOf(one), 0) >= SHARE
  const passing = nodes.passing(wallet)
  const node = nodes.own(wallet)
  const all = isEnough ? edges.add(SOURCE, node, SHARE * first) : 0
  const payments = real.map(({ operator }) => nodes.payment(operator))
  for (const [n, purchase] of real.entries())
    if (isEnough) edges.add(node, payments[n] ?? 0, limitOf(purchase))
  for (const [n, { operator, paid, isSeed }] of real.entries()) {
    const [target, payment] = [nodes.of(operator), payments[n] ?? 0]
    edges.add(payment, target, paid)
    edges.add(passing, payment, paid)
    if (!isSeed) edges.add(target, passing, paid)
  }
  return isEnough ? { wallet, all, later: listings - first } : null
}

/**
 * The listings a wallet's flow is enough for: one of each operator before a second one of any, so that a
 * seller with many listings takes nothing from others; of these, where it bought first, and last where it
 * paid next to nothing; known operators' come after all. Any two operators leave every dollar to be used, so it
 * is enough that all fit together, and those of each operator in what went to the others.
 */
function dealOut({ all }: OwnFlow, bought: readonly Purchase[], network: FlowNetwork): number[] {
  const total = network.flowOf(all)
  const real = bought.filter(({ isCashLike }) => !isCashLike)
  const given = new Map(real.map(({ operator }, n) => [operator, network.flowOf(all + 1 + n)]))
  const ranked = bought.flatMap(({ operator, listings, isSeed, paid }, place) => {
    const room = Math.floor((total - (given.get(operator) ?? 0)) / SHARE)
    const lateOf = (rank: number) => (isSeed ? 3 : rank > 0 ? 2 : Number(paid < DUST))
    return listings
      .toSorted((a, b) => b.paid - a.paid || a.listing - b.listing)
      .slice(0, room)
      .map(({ listing }, rank) => ({ listing, place, rank, late: lateOf(rank) }))
  })
  return ranked
    .sort((a, b) => a.late - b.late || a.rank - b.rank || a.place - b.place)
    .slice(0, Math.floor(total / SHARE))
    .map(({ listing }) => listing)
}
