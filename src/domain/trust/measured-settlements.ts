import type { Settlement, Transfer } from '../settlement/settlement.ts'
import { excludeWash } from '../wash/wash.ts'
import { normalizeWallet } from '../wash/wash-rules.ts'
import { type Measured, OWN_EVIDENCE } from './evidence.ts'
import { TRUST } from './trust.ts'

const DAY_MS = 86_400_000

/** Dollars are counted in millionths: a sum must not depend on the order of what is summed. */
const MICRO = 1_000_000

/**
 * The settlements this service verified for one listing, as `measured` evidence.
 *
 * @param asOf end of the window, milliseconds. `windowEnd` gives one that is the same all day.
 * @returns undefined where the window holds no settlement at all, wash included.
 */
export function toMeasured(
  settlements: readonly Settlement[],
  {
    wallets,
    transfers,
    asOf,
  }: { wallets: readonly string[]; transfers: readonly Transfer[]; asOf: number },
): Measured | undefined {
  const from = asOf - TRUST.windowDays * DAY_MS
  const inWindow = settlements.filter(({ at }) => at > from && at <= asOf)
  if (inWindow.length === 0) return undefined
  const { independent, flags } = excludeWash(inWindow, wallets, transfers)
  const spent = new Map<string, number>()
  for (const { payer, usd } of independent) {
    const wallet = normalizeWallet(payer)
    spent.set(wallet, (spent.get(wallet) ?? 0) + Math.round(usd * MICRO))
  }
  const total = [...spent.values()].reduce((sum, micros) => sum + micros, 0)
  const last = independent.reduce((latest, { at }) => Math.max(latest, at), 0)
  return {
    source: OWN_EVIDENCE,
    as_of: new Date(asOf).toISOString(),
    verified_buyers_30d: spent.size,
    settlements_30d: independent.length,
    volume_usd_30d: total / MICRO,
    top_buyer_share_30d: total === 0 ? 0 : Math.max(...spent.values()) / total,
    last_settlement_at: last === 0 ? null : new Date(last).toISOString(),
    shared_payout: false,
    wash_flags: flags,
    watch: [],
    raw: toRaw(inWindow),
  }
}

/** What stands beside the counted numbers, so that nobody has to believe the exclusions. */
function toRaw(settlements: readonly Settlement[]): NonNullable<Measured['raw']> {
  const micros = settlements.reduce((sum, { usd }) => sum + Math.round(usd * MICRO), 0)
  return {
    payers: new Set(settlements.map(({ payer }) => normalizeWallet(payer))).size,
    settlements: settlements.length,
    volume_usd: micros / MICRO,
  }
}

/**
 * End of the day, UTC: a window that moves once a day, so that two builds of one day are the same
 * bytes, and that holds a settlement of a minute ago.
 */
export function windowEnd(now: number): number {
  return Math.ceil((now + 1) / DAY_MS) * DAY_MS - 1
}
