import { COUNTED_SCHEMES } from '../settlement/schemes/schemes.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { BRIDGED_COINS } from '../settlement/usd-assets.ts'
import { excludeWash, type WashKnowledge, type WashResult } from '../wash/wash.ts'
import { normalizeWallet } from '../wash/wash-rules.ts'
import { largestOf } from '../wire/extremes.ts'
import { capPayers } from './cap-payers.ts'
import { type Day, type Measured, OWN_EVIDENCE } from './evidence.ts'
import { TRUST } from './trust.ts'

const DAY_MS = 86_400_000
const WINDOW_MS = TRUST.windowDays * DAY_MS

/** The window and what is kept of history before it: ninety days in all. */
const WINDOWS = 3
/** How far back settlements are looked at, the window included. */
export const HISTORY_MS = WINDOW_MS * WINDOWS

/** Dollars are counted in millionths: a sum must not depend on the order of what is summed. */
const MICRO = 1_000_000

/** What one listing was paid, as far as we saw it ourselves, before it is asked who vouches for whom. */
export interface Sales {
  /** Wash left out: of the window first, then of those before it, each judged as it was then. */
  windows: readonly (readonly Settlement[])[]
  /** Of the window. */
  flags: WashResult['flags']
  /** Everything paid in the window, wash included. */
  raw: NonNullable<Measured['raw']>
  /** Payers, as `walletOf` writes them, whose money nobody has traced. */
  untraced: ReadonlySet<string>
}

const EVERYBODY_TRACED: ReadonlySet<string> = new Set()

export function walletOf({ network, payer }: Pick<Settlement, 'network' | 'payer'>): string {
  return `${network}:${payer}`
}

/**
 * @param asOf end of the window, milliseconds. `windowEnd` gives one that is the same all day.
 * @param isMetered whether everything that was paid is known: then nothing is an answer too
 * @returns undefined where the window holds no settlement at all, wash included.
 */
export function toSales(
  settlements: readonly Settlement[],
  {
    asOf,
    isMetered = false,
    untraced = EVERYBODY_TRACED,
    ...known
  }: WashKnowledge & {
    asOf: number
    isMetered?: boolean
    untraced?: ReadonlySet<string>
  },
): Sales | undefined {
  const judged = Array.from({ length: WINDOWS }, (_, n) => {
    const end = asOf - n * WINDOW_MS
    const paid = settlements.filter(({ at }) => at > end - WINDOW_MS && at <= end)
    return { paid, ...excludeWash(paid, known) }
  })
  const [window] = judged
  if (window === undefined || (window.paid.length === 0 && !isMetered)) return undefined
  return {
    windows: judged.map(({ independent }) => independent),
    flags: window.flags,
    // Shown beside the counted numbers, so that nobody has to believe the exclusions.
    raw: {
      payers: countPayers(window.paid),
      settlements: window.paid.length,
      volume_usd: sumMicros(window.paid) / MICRO,
    },
    untraced,
  }
}

/** @param vouched wallets that are vouched for, by window; null where that is not known */
export function toOwnEvidence(
  { windows, flags, raw, untraced }: Sales,
  { asOf, vouched }: { asOf: number; vouched: readonly ReadonlySet<string>[] | null },
): Measured {
  const counted = windows.map((paid, n) => {
    const known = vouched?.[n] ?? new Set()
    const kept =
      vouched === null ? paid : paid.filter(({ payer }) => known.has(normalizeWallet(payer)))
    return capPayers(kept)
  })
  const window = counted[0] ?? []
  const schemes = new Set(window.map(({ scheme }) => scheme))
  const paidBy = COUNTED_SCHEMES.filter((scheme) => schemes.has(scheme))
  const buyers = Map.groupBy(window, ({ payer }) => normalizeWallet(payer))
  const total = sumMicros(window)
  const last = largestOf(
    window.map(({ at }) => at),
    0,
  )
  return {
    source: OWN_EVIDENCE,
    as_of: new Date(asOf).toISOString(),
    verified_buyers_30d: buyers.size,
    settlements_30d: window.length,
    volume_usd_30d: total / MICRO,
    top_buyer_share_30d: total === 0 ? 0 : largestOf([...buyers.values()].map(sumMicros)) / total,
    last_settlement_at: last === 0 ? null : new Date(last).toISOString(),
    shared_payout: false,
    ...(vouched !== null && { unknown_buyers_30d: countPayers(windows[0] ?? []) - buyers.size }),
    ...(paidBy.length > 0 && { paid_by: paidBy }),
    wash_flags: flags,
    watch: [
      ...toUntracedWatch(window.filter((one) => untraced.has(walletOf(one))).length),
      ...toBridgedWatch(window),
    ],
    raw,
    days: toDays(counted.flat(), asOf),
  }
}

function toUntracedWatch(count: number): Measured['watch'] {
  const note = `We have not seen where the payers of ${count} of these payments had their money from, so the seller may have paid them itself.`
  return count === 0 ? [] : [{ id: 'payers_untraced', note }]
}

/** Coins that a bridge redeems, and not their issuer, are shown as such beside the score. */
function toBridgedWatch(counted: readonly Settlement[]): Measured['watch'] {
  return BRIDGED_COINS.flatMap((coin) => {
    const paid = counted.filter(({ network }) => network === coin.network).length
    const note = `${paid} of these payments were made in ${coin.name}, a bridged coin: a bridge redeems it, not its issuer.`
    return paid === 0 ? [] : [{ id: 'bridged_coin', note }]
  })
}

/** The days that had settlements, and the last one, so that a drawing ends where the window does. */
function toDays(counted: readonly Settlement[], asOf: number): Day[] {
  const byDate = Map.groupBy(counted, ({ at }) => toDate(at))
  const dates = new Set([...byDate.keys(), toDate(asOf)])
  return [...dates].sort().map((date) => {
    const own = byDate.get(date) ?? []
    return {
      date,
      settlements: own.length,
      volume_usd: sumMicros(own) / MICRO,
      buyers: countPayers(own),
    }
  })
}

function countPayers(settlements: readonly Settlement[]): number {
  return new Set(settlements.map(({ payer }) => normalizeWallet(payer))).size
}

function sumMicros(settlements: readonly Settlement[]): number {
  return settlements.reduce((sum, { usd }) => sum + Math.round(usd * MICRO), 0)
}

function toDate(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** End of the day, UTC: two builds of one day are the same bytes. */
export function windowEnd(now: number): number {
  return Math.ceil((now + 1) / DAY_MS) * DAY_MS - 1
}
