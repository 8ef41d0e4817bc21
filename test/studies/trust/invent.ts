import { TRUST } from '../../../src/domain/trust/trust.ts'
import { smallestOf } from '../../../src/domain/wire/json.ts'
import { createRandom } from '../../support/random.ts'
import {
  AS_OF,
  DAY_MS,
  FULL_USD,
  type Judge,
  type Market,
  type Moves,
  pay,
  payoutOf,
  send,
  toCaip10,
  toListing,
} from './market.ts'

/** Against the formula: what a seller that wants a score without buyers may try. */
export interface Attack {
  /** Where the wallets' money comes from, as far as a chain shows it. */
  funding?: 'payout' | 'one_hop'
  /** Days over which the payments are spread; a month by default. */
  days?: number
  /** Share of each payment that the payout sends back to its payer. */
  returned?: number
  /** One payout for all listings, or a known seller's, published as the cheat's. */
  payout?: 'shared' | 'published'
  /** Payouts of the cheat's own shops pay, which pay each other. */
  isRing?: true
  /** Where the wallets spend in addition. */
  elsewhere?: 'own_shop' | 'shops' | 'known'
  /** Listings of the cheat that the same wallets buy from; the costs are those of one. */
  listings?: number
  /** Every payment is of one amount. */
  isEven?: true
}

/** How an attack is carried out; payments and dollars are those of one listing. */
export interface Plan {
  wallets: number
  payments: number
  /** Dollars turned over: they come back to the cheat. */
  volume: number
  /** Dollars each wallet spends beside the listings. */
  spent: number
}

export const KNOWN: Attack = { elsewhere: 'known' }
export const HUNDRED: Attack = { ...KNOWN, listings: 100 }

/** Nothing that they do gives a score where the rule holds. */
export const WORTHLESS: Record<string, Attack> = {
  'own wallets, filled from elsewhere, over a month': {},
  'own wallets, all within minutes': { days: 0.01, isEven: true },
  'own wallets filled by the payout': { ...KNOWN, funding: 'payout' },
  'own wallets filled through another wallet': { ...KNOWN, funding: 'one_hop' },
  'own wallets that are sent their money back': { ...KNOWN, returned: 0.9 },
  'a known seller’s payout, published as one’s own': { payout: 'published' },
  'shops of one hand that pay each other': { isRing: true, elsewhere: 'own_shop' },
  'own wallets that also buy from an own shop under another name': { elsewhere: 'own_shop' },
  'own wallets that buy from small shops': { elsewhere: 'shops' },
}

/** What money costs while it goes round. */
const INTEREST_A_YEAR = 0.1
/** The least that settling a payment has cost on any chain counted here, whoever paid it. */
export const FEE_USD = 0.00001
/** The least by which two payments differ. */
const MICRO_USD = 0.000001
const MONTH = 30

/** Dollars a listing that are gone for good: what strangers got, fees, and interest on what goes round. */
export function costOf({ days = MONTH, listings = 1 }: Attack, plan: Plan): number {
  const { wallets, payments, volume, spent } = plan
  const interest = (volume * INTEREST_A_YEAR * Math.min(1, days)) / 365
  return (wallets * spent) / listings + interest + (payments + wallets / listings) * FEE_USD
}

/** @returns the score of the listing that got the least of it */
export function invent(attack: Attack, plan: Plan, market: Market, judge: Judge): number {
  const listings = Array.from({ length: attack.listings ?? 1 }, (_, n) => `cheat-${n}`)
  const { scoreOf } = judge(carryOut(attack, plan, { market, listings }))
  return smallestOf(listings.map(scoreOf))
}

function carryOut(
  attack: Attack,
  plan: Plan,
  { market, listings }: { market: Market; listings: readonly string[] },
): Moves {
  const { days = MONTH, payout, isRing, isEven, returned, funding } = attack
  const names = Array.from({ length: plan.wallets }, (_, n) => n)
  const payers = names.map((n) => (isRing ? payoutOf(`own-shop-${n}`) : `wallet-${n}`))
  const start = AS_OF - days * DAY_MS
  const known = market.seeds[0] ?? ''
  // A payout of somebody else's is paid by its own buyers.
  const isOwn = payout !== 'published'
  const shops = payout === 'shared' ? listings.slice(0, 1) : listings
  const bought = Array.from({ length: isOwn ? plan.payments : 0 }, (_, n) => n).flatMap((n) => {
    const usd = plan.volume / plan.payments + (isEven ? 0 : n * MICRO_USD)
    const at = start + ((n + 0.5) * days * DAY_MS) / plan.payments
    return shops.flatMap((shop) => pay({ payer: payers[n % payers.length] ?? '', shop, usd, at }))
  })
  const stops = funding === 'one_hop' ? [payoutOf('cheat-0'), 'between'] : [payoutOf('cheat-0')]
  const filled = payers.flatMap((wallet) =>
    [...stops, wallet]
      .slice(1)
      .map((to, hop) =>
        send({ from: stops[hop] ?? '', to, usd: 5, at: start - (9 - hop) * 60_000 }),
      ),
  )
  const back = bought.map(({ payer, payee, usd, at }) =>
    send({ from: payee, to: payer, usd: usd * (returned ?? 0), at: at + 60_000 }),
  )
  return {
    payments: [...bought, ...spendElsewhere(attack, plan, payers, market)],
    transfers: [...(funding === undefined ? [] : filled), ...(returned === undefined ? [] : back)],
    listings: listings.map((id) => {
      const of = payout === 'shared' ? 'cheat-0' : payout === 'published' ? known : id
      const owner = payout === 'shared' ? 'cheat.example' : `${id}.example`
      return toListing(id, { owner, published: [toCaip10(payoutOf(of))] })
    }),
  }
}

function spendElsewhere(
  { elsewhere, isRing }: Attack,
  { spent: usd }: Plan,
  payers: readonly string[],
  market: Market,
) {
  if (elsewhere === undefined || usd <= 0) return []
  const own = isRing ? payers.map((_, n) => `own-shop-${n}`) : ['own-shop']
  const others = elsewhere === 'known' ? market.seeds : market.shops
  const shops = elsewhere === 'own_shop' ? own : others
  // Each buys from the next one: of a ring's shops never from its own.
  return payers.flatMap((payer, n) =>
    pay({ payer, shop: shops[(n + 1) % shops.length] ?? '', usd }),
  )
}

type Found = Plan & { cost: number }

const MOST_WALLETS = 110
const TRIES = 60

/**
 * The cheapest way found to reach a score: plans as the rules are written, then downhill from the first
 * that does, by changes of one or two numbers. A cleverer cheat may find a cheaper one.
 */
export function findCheapest(
  attack: Attack,
  target: number,
  market: Market,
  judge: Judge,
): Found | null {
  const random = createRandom(target)
  const found: Found[] = []
  const consider = (plan: Plan) => {
    const cost = costOf(attack, plan)
    const isCheaper = cost < (found.at(-1)?.cost ?? Infinity)
    if (isCheaper && invent(attack, plan, market, judge) >= target) found.push({ ...plan, cost })
  }
  const { settlements, volumeUsd } = TRUST.perPayer
  const exact = Array.from({ length: MOST_WALLETS }, (_, n) => n + 1).flatMap((wallets) =>
    [1, 0.85, 0.5].map((share) => ({
      wallets,
      payments: settlements * wallets,
      volume: volumeUsd * wallets,
      spent: share * FULL_USD * (attack.listings ?? 1),
    })),
  )
  for (const plan of exact.sort((a, b) => costOf(attack, a) - costOf(attack, b))) {
    consider(plan)
    if (found.length > 0) break
  }
  for (let tries = 0; tries < TRIES; tries += 1)
    for (const best of found.slice(-1))
      consider(change(best, 0.4 * (0.02 / 0.4) ** (tries / TRIES), random))
  return found.at(-1) ?? null
}

function change(plan: Plan, step: number, random: () => number): Plan {
  const turn = (value: number) => value * (1 + step * (2 * random() - 1.4))
  const wallets = Math.max(1, Math.round(turn(plan.wallets)))
  return {
    wallets,
    payments: Math.max(wallets, Math.round(turn(plan.payments))),
    volume: turn(plan.volume),
    spent: (plan.spent * plan.wallets * (1 - (step * random()) / 4)) / wallets,
  }
}
