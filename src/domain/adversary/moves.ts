import type { Settlement, Transfer } from '../settlement/settlement.ts'
import type { Attack, Plan } from './attacks.ts'
import { type HonestMarket, payoutOf, toSettlement } from './honest-market.ts'

/** The payments and transfers of an attack, as a chain would show them. */
export interface Moves {
  /** To the listing, in the order they are reported. */
  settlements: Settlement[]
  /** To others, by shop. */
  elsewhere: Map<string, readonly Settlement[]>
  transfers: Transfer[]
}

/** The listing that is to get a score. */
export const TARGET = 'target'

/** Other shops of the same hand, each under a name of its own. */
export function ownShopsOf({ payers, listings }: Attack, { wallets }: Plan): string[] {
  return Array.from({ length: payers === 'shops' ? wallets : listings }, (_, n) => `own-shop-${n}`)
}

/** The market's shop that sells gift cards, to strangers too. */
export function giftShopOf({ smallShops }: Pick<HonestMarket, 'smallShops'>): string {
  return smallShops[1] ?? ''
}

const DAY_MS = 86_400_000
/** The least by which two payments differ. */
const MICRO_USD = 0.000001

interface Scene {
  market: HonestMarket
  asOf: number
}

export function carryOut(attack: Attack, plan: Plan, { market, asOf }: Scene): Moves {
  const payers = toPayers(attack, plan, market)
  const start = asOf - attack.days * DAY_MS
  const step = (asOf - start) / Math.max(1, plan.payments)
  const settlements = Array.from({ length: plan.payments }, (_, n) =>
    toSettlement({
      payer: payers[n % payers.length] ?? '',
      shop: TARGET,
      usd: plan.volume_usd / plan.payments + (attack.amounts === 'uneven' ? n * MICRO_USD : 0),
      at: start + (n + 0.5) * step,
      transaction: `attack-${n}`,
    }),
  )
  return {
    settlements: settlements.flatMap((each) => Array<Settlement>(attack.reports).fill(each)),
    elsewhere: spendElsewhere(attack, plan, { payers, market, asOf }),
    transfers: [
      ...fillWallets(attack, plan, payers, start),
      ...(attack.returned === 0 ? [] : sendBack(attack, settlements)),
    ],
  }
}

function toPayers(attack: Attack, plan: Plan, market: HonestMarket): string[] {
  if (attack.payers === 'rented') return biggestBuyers(market).slice(0, plan.wallets)
  return attack.payers === 'shops'
    ? ownShopsOf(attack, plan).map(payoutOf)
    : Array.from({ length: plan.wallets }, (_, n) => `wallet-${n}`)
}

/** Buyers of the market, those that spent most first: whoever rents wallets rents these. */
function biggestBuyers({ payments }: HonestMarket): string[] {
  const spent = new Map<string, number>()
  for (const { payer, usd } of [...payments.values()].flat())
    spent.set(payer, (spent.get(payer) ?? 0) + usd)
  return [...spent].sort(([, one], [, other]) => other - one).map(([payer]) => payer)
}

/** Money from an exchange is nobody's; money of the payout shows wherever it passes. */
function fillWallets(
  { funding }: Attack,
  { volume_usd, wallets }: Plan,
  payers: readonly string[],
  start: number,
): Transfer[] {
  if (funding === 'elsewhere') return []
  const usd = volume_usd / wallets
  const chain = { payout: 0, one_hop: 1, two_hops: 2 }[funding]
  return payers.flatMap((wallet, n) => {
    const between = Array.from({ length: chain }, (_, hop) => `between-${n}-${hop}`)
    const stops = [payoutOf(TARGET), ...between, wallet]
    return stops
      .slice(1)
      .map((to, hop) =>
        toTransfer({ from: stops[hop] ?? '', to, usd, at: start - (stops.length - hop) * 60_000 }),
      )
  })
}

function sendBack({ returned }: Attack, settlements: readonly Settlement[]): Transfer[] {
  return settlements.map(({ payer, payee, usd, at }) =>
    toTransfer({ from: payee, to: payer, usd: usd * returned, at: at + 60_000 }),
  )
}

function toTransfer(facts: { from: string; to: string; usd: number; at: number }): Transfer {
  return {
    network: 'eip155:8453',
    transaction: `transfer ${facts.from} ${facts.to} ${facts.at}`,
    log_index: 0,
    from: facts.from,
    to: facts.to,
    amount: String(Math.round(facts.usd * 1_000_000)),
    at: Math.round(facts.at),
    block: null,
    from_contract: false,
  }
}

interface Shopping extends Scene {
  payers: readonly string[]
}

/** What the wallets buy beside the listing, each once. */
function spendElsewhere(
  attack: Attack,
  plan: Plan,
  { payers, market, asOf }: Shopping,
): Map<string, readonly Settlement[]> {
  const { elsewhere } = attack
  const { elsewhere_usd: usd } = plan
  if (elsewhere === 'nowhere' || usd === 0) return new Map()
  const at = asOf - DAY_MS
  const buy = (payer: string, shop: string, n: number) =>
    toSettlement({ payer, shop, usd, at, transaction: `shopping ${payer} ${shop} ${n}` })
  const own = ownShopsOf(attack, plan)
  const shops = shopsOf(attack, market)
  if (shops !== null) {
    const bought = payers.map((payer, n) => buy(payer, shops[n % shops.length] ?? '', n))
    // Several listings of one cheat: the same wallets are buyers of each.
    const others = attack.listings === 1 ? [] : own.slice(1)
    const shared = others.flatMap((shop) => payers.map((payer, n) => buy(payer, shop, n)))
    return joined(market, [...bought, ...shared])
  }
  // Where there are several, each buys from the next one.
  const inOwnShop = payers.map((payer, n) => buy(payer, own[(n + 1) % own.length] ?? '', n))
  if (elsewhere === 'own_shop') return joined(market, inOwnShop)
  const vouchers = payers.flatMap((payer, n) => {
    const voucher = `voucher-for-${payer}`
    return [buy(voucher, own[0] ?? '', n), buy(voucher, market.knownShops[0] ?? '', -1 - n)]
  })
  return joined(market, [...inOwnShop, ...vouchers])
}

/** Shops of the market that the wallets buy from, turn by turn; null where it is none of them. */
export function shopsOf({ elsewhere }: Attack, market: HonestMarket): readonly string[] | null {
  if (elsewhere === 'known_shops') return market.knownShops
  if (elsewhere === 'small_shops') return market.smallShops
  if (elsewhere === 'side_shop') return market.smallShops.slice(0, 1)
  const isGift = elsewhere === 'gift_cards' || elsewhere === 'misfiled_gift_cards'
  return isGift ? [giftShopOf(market)] : null
}

/** Shops that strangers pay too keep those payments. */
function joined(
  market: HonestMarket,
  bought: readonly Settlement[],
): Map<string, readonly Settlement[]> {
  const byShop = Map.groupBy(bought, ({ listing_id }) => listing_id)
  return new Map(
    [...byShop].map(([shop, own]) => [shop, [...(market.payments.get(shop) ?? []), ...own]]),
  )
}
