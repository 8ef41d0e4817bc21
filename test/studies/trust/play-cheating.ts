import type { Transfer } from '../../../src/domain/settlement/settlement.ts'
import { smallestOf } from '../../../src/domain/wire/extremes.ts'
import { type Attack, type Plan, REWARD_USD } from './attacks.ts'
import {
  AS_OF,
  DAY_MS,
  type Judge,
  type Market,
  type Moves,
  type Paid,
  pay,
  payoutOf,
  send,
  toCaip10,
  toListing,
} from './market.ts'

/** What money costs while it goes round. */
const INTEREST_A_YEAR = 0.1
/** The least that settling a payment has cost on any chain counted here, whoever paid it. */
export const FEE_USD = 0.00001
/** The least by which two payments differ. */
const MICRO_USD = 0.000001

/** Dollars that go round: what was paid is back at the wallets after a day. */
export function tiedUsd({ days }: Attack, { volume_usd }: Plan): number {
  return volume_usd / Math.max(1, days)
}

/** Dollars a listing that are gone for good: what strangers got, fees, and interest on what goes round. */
export function costOf(attack: Attack, plan: Plan): number {
  const { listings, payers, lost } = attack
  const given = (plan.wallets * plan.elsewhere_usd * lost) / listings
  const rewards = payers === 'rented' ? plan.payments * REWARD_USD : 0
  const interest = (tiedUsd(attack, plan) * INTEREST_A_YEAR * attack.days) / 365
  return given + rewards + interest + (plan.payments + plan.wallets / listings) * FEE_USD
}

/** @returns the score of the listing that got the least of it */
export function playCheating(attack: Attack, plan: Plan, market: Market, judge: Judge): number {
  const listings = Array.from({ length: attack.listings }, (_, n) => `cheat-${n}`)
  const { scoreOf } = judge(carryOut(attack, plan, { market, listings }))
  return smallestOf(listings.map(scoreOf))
}

interface Scene {
  market: Market
  listings: readonly string[]
}

function carryOut(attack: Attack, plan: Plan, { market, listings }: Scene): Moves {
  const payers = toPayers(attack, plan, market)
  const start = AS_OF - attack.days * DAY_MS
  const bought = buy(attack, plan, { payers, listings, start })
  const known = market.seeds[0] ?? ''
  const theirs = market.payments.filter(({ shop }) => market.seeds.includes(shop))
  return {
    payments: [
      // A payout of somebody else's is paid by its own buyers.
      ...(attack.payout === 'called' || attack.payout === 'published' ? [] : bought),
      ...spendElsewhere(attack, plan, { payers, market }),
    ],
    transfers: [...fillWallets(attack, plan, payers, start), ...sendBack(attack, bought)],
    ...(attack.payout === 'called' && {
      hints: new Map(theirs.map(({ transaction }) => [transaction, listings[0] ?? ''])),
    }),
    listings: listings.map((id) =>
      toListing(id, {
        ...(attack.payout === 'shared' && {
          owner: 'cheat.example',
          published: [toCaip10(payoutOf('cheat-0'))],
        }),
        ...(attack.payout === 'published' && { published: [toCaip10(payoutOf(known))] }),
      }),
    ),
  }
}

function toPayers(attack: Attack, plan: Plan, market: Market): string[] {
  const names = Array.from({ length: plan.wallets }, (_, n) => `wallet-${n}`)
  if (attack.payers === 'shops') return names.map((_, n) => payoutOf(`own-shop-${n}`))
  return attack.payers === 'rented' ? findBiggestBuyers(market).slice(0, plan.wallets) : names
}

/** A cheat that rents wallets rents those that paid known sellers most. */
function findBiggestBuyers({ payments, seeds }: Market): string[] {
  const spent = new Map<string, number>()
  for (const { payer, usd, shop } of payments)
    if (seeds.includes(shop)) spent.set(payer, (spent.get(payer) ?? 0) + usd)
  return [...spent].sort(([, one], [, other]) => other - one).map(([payer]) => payer)
}

function buy(
  { payout, days, amounts }: Attack,
  plan: Plan,
  {
    payers,
    listings,
    start,
  }: { payers: readonly string[]; listings: readonly string[]; start: number },
): Paid[] {
  const step = (days * DAY_MS) / Math.max(1, plan.payments)
  // A payment to the payout of all stands with each of them.
  const shops = payout === 'shared' ? listings.slice(0, 1) : listings
  return Array.from({ length: plan.payments }, (_, n) => n).flatMap((n) => {
    const payer = payers[n % payers.length] ?? ''
    const usd = plan.volume_usd / plan.payments + (amounts === 'uneven' ? n * MICRO_USD : 0)
    const at = start + (n + 0.5) * step
    return shops.flatMap((shop) => pay({ payer, shop, usd, at }))
  })
}

/** Money from an exchange is nobody's; money of the payout shows wherever it passes. */
function fillWallets(
  { funding }: Attack,
  { volume_usd, wallets }: Plan,
  payers: readonly string[],
  start: number,
): Transfer[] {
  if (funding === 'elsewhere') return []
  const usd = Math.max(volume_usd / wallets, 0.01)
  const chain = { payout: 0, one_hop: 1, two_hops: 2 }[funding]
  return payers.flatMap((wallet, n) => {
    const between = Array.from({ length: chain }, (_, hop) => `between-${n}-${hop}`)
    const stops = [payoutOf('cheat-0'), ...between, wallet]
    return stops
      .slice(1)
      .map((to, hop) =>
        send({ from: stops[hop] ?? '', to, usd, at: start - (stops.length - hop) * 60_000 }),
      )
  })
}

function sendBack({ returned }: Attack, settlements: readonly Paid[]): Transfer[] {
  if (returned === 0) return []
  return settlements.map(({ payer, payee, usd, at }) =>
    send({ from: payee, to: payer, usd: usd * returned, at: at + 60_000 }),
  )
}

/** What the wallets buy in addition to the listings. */
function spendElsewhere(
  attack: Attack,
  { elsewhere_usd: usd }: Plan,
  { payers, market }: { payers: readonly string[]; market: Market },
): Paid[] {
  const { elsewhere } = attack
  if (elsewhere === 'nowhere' || usd <= 0) return []
  const own = attack.payers === 'shops' ? payers.map((_, n) => `own-shop-${n}`) : ['own-shop']
  const others = elsewhere === 'known' ? market.seeds : market.shops
  const shops = elsewhere === 'own_shop' ? own : others
  // Where there are several, each buys from the next one: of a ring's shops never from its own.
  return payers.flatMap((payer, n) =>
    pay({ payer, shop: shops[(n + 1) % shops.length] ?? '', usd }),
  )
}
