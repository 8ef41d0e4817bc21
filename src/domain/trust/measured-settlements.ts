import type { Settlement } from '../settlement/settlement.ts'
import { excludeWash, type WashKnowledge } from '../wash/wash.ts'
import { normalizeWallet } from '../wash/wash-rules.ts'
import { largestOf } from '../wire/extremes.ts'
import { type Day, type Measured, OWN_EVIDENCE } from './evidence.ts'
import { TRUST } from './trust.ts'

const DAY_MS = 86_400_000
const WINDOW_MS = TRUST.windowDays * DAY_MS

/** Windows of history that are kept beside the current one: ninety days in all. */
const EARLIER_WINDOWS = 2
/** How far back settlements are looked at, the window included. */
export const HISTORY_MS = WINDOW_MS * (1 + EARLIER_WINDOWS)

/** Dollars are counted in millionths: a sum must not depend on the order of what is summed. */
const MICRO = 1_000_000

export interface OwnEvidence {
  measured: Measured
  /** The settlements of the window that count, oldest first. */
  counted: readonly Settlement[]
}

/**
 * The settlements this service verified for one listing, as `measured` evidence.
 *
 * @param settlements of the window and, for its days, of the history before
 * @param asOf end of the window, milliseconds. `windowEnd` gives one that is the same all day.
 * @param isMetered whether everything that was paid is known: then nothing is an answer too
 * @returns undefined where the window holds no settlement at all, wash included.
 */
export function toOwnEvidence(
  settlements: readonly Settlement[],
  { asOf, isMetered = false, ...known }: WashKnowledge & { asOf: number; isMetered?: boolean },
): OwnEvidence | undefined {
  const inWindow = withinWindow(settlements, asOf)
  if (inWindow.length === 0 && !isMetered) return undefined
  const { independent, flags } = excludeWash(inWindow, known)
  const spent = new Map<string, number>()
  for (const { payer, usd } of independent) {
    const wallet = normalizeWallet(payer)
    spent.set(wallet, (spent.get(wallet) ?? 0) + toMicros(usd))
  }
  const total = sumMicros(independent)
  const last = independent.reduce((latest, { at }) => Math.max(latest, at), 0)
  const measured = {
    source: OWN_EVIDENCE,
    as_of: new Date(asOf).toISOString(),
    verified_buyers_30d: spent.size,
    settlements_30d: independent.length,
    volume_usd_30d: total / MICRO,
    top_buyer_share_30d: total === 0 ? 0 : largestOf(spent.values()) / total,
    last_settlement_at: last === 0 ? null : new Date(last).toISOString(),
    shared_payout: false,
    wash_flags: flags,
    watch: [],
    raw: toRaw(inWindow),
    days: toDays([...findEarlier(settlements, asOf, known), ...independent], asOf),
  }
  return { measured, counted: independent.toSorted((a, b) => a.at - b.at) }
}

function withinWindow(settlements: readonly Settlement[], end: number): Settlement[] {
  return settlements.filter(({ at }) => at > end - WINDOW_MS && at <= end)
}

/** What counted in the windows before this one, each judged by itself as it was then. */
function findEarlier(
  settlements: readonly Settlement[],
  asOf: number,
  known: WashKnowledge,
): Settlement[] {
  return Array.from({ length: EARLIER_WINDOWS }, (_, n) => asOf - (n + 1) * WINDOW_MS).flatMap(
    (end) => excludeWash(withinWindow(settlements, end), known).independent,
  )
}

/** Shown beside the counted numbers, so that nobody has to believe the exclusions. */
function toRaw(settlements: readonly Settlement[]): NonNullable<Measured['raw']> {
  return {
    payers: new Set(settlements.map(({ payer }) => normalizeWallet(payer))).size,
    settlements: settlements.length,
    volume_usd: sumMicros(settlements) / MICRO,
  }
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
      buyers: new Set(own.map(({ payer }) => normalizeWallet(payer))).size,
    }
  })
}

function sumMicros(settlements: readonly Settlement[]): number {
  return settlements.reduce((sum, { usd }) => sum + toMicros(usd), 0)
}

function toMicros(usd: number): number {
  return Math.round(usd * MICRO)
}

function toDate(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

/**
 * End of the day, UTC: a window that moves once a day, so that two builds of one day are the same
 * bytes, and that holds a settlement of a minute ago.
 */
export function windowEnd(now: number): number {
  return Math.ceil((now + 1) / DAY_MS) * DAY_MS - 1
}
