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
export function ownShopsOf({ payers }: Attack, { wallets }: Plan): string[] {
  return Array.from({ length: payers === 'shops' ? wallets : 1 }, (_, n) => `own-shop-${n}`)
}

const DAY_MS = 86_400_000

interface Scene {
  market: HonestMarket
  asOf: number
}

export function carryOut(attack: Attack, plan: Plan, { market, asOf }: Scene): Moves {
  const payers = toPayers(attack, plan)
  const start = asOf - attack.days * DAY_MS
  const step = (asOf - start) / Math.max(1, plan.payments)
  const settlements = Array.from({ length: plan.payments }, (_, n) =>
    toSettlement({
      payer: payers[n % payers.length] ?? '',
      shop: TARGET,
      usd: plan.volume_usd / plan.payments,
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

function toPayers(attack: Attack, plan: Plan): string[] {
  return attack.payers === 'shops'
    ? ownShopsOf(attack, plan).map(payoutOf)
    : Array.from({ length: plan.wallets }, (_, n) => `wallet-${n}`)
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
    toSettlement({ payer, shop, usd, at, transaction: `shopping ${payer} ${n}` })
  const own = ownShopsOf(attack, plan)
  const shops = { known_shops: market.knownShops, small_shops: market.smallShops }
  if (elsewhere === 'known_shops' || elsewhere === 'small_shops') {
    const choice = shops[elsewhere]
    const bought = payers.map((payer, n) => buy(payer, choice[n % choice.length] ?? '', n))
    return joined(market, bought)
  }
  // Where there are several, each buys from the next one.
  const [sideShop = ''] = market.smallShops
  if (elsewhere === 'side_shop')
    return joined(
      market,
      payers.map((payer, n) => buy(payer, sideShop, n)),
    )
  const inOwnShop = payers.map((payer, n) => buy(payer, own[(n + 1) % own.length] ?? '', n))
  if (elsewhere === 'own_shop') return joined(market, inOwnShop)
  const vouchers = payers.flatMap((payer, n) => {
    const voucher = `voucher-for-${payer}`
    return [buy(voucher, own[0] ?? '', n), buy(voucher, market.knownShops[0] ?? '', -1 - n)]
  })
  return joined(market, [...inOwnShop, ...vouchers])
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
