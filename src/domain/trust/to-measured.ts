import { FULL } from '../independence/weigh-buyer.ts'
import { COUNTED_SCHEMES } from '../settlement/schemes/schemes.ts'
import { BRIDGED_COINS } from '../settlement/usd-assets.ts'
import { WASH_FLAGS } from '../wash/wash.ts'
import { largestOf } from '../wire/extremes.ts'
import type { Shares } from './count-shares.ts'
import { type Day, type Measured, OWN_EVIDENCE } from './evidence.ts'
import type { LedgerPayment } from './ledger-payment.ts'

const MICRO = 1_000_000

interface Paid {
  as_of: string
  /** Of the window, with those that do not count. */
  rows: readonly LedgerPayment[]
  /** What counts, the window first, then those before it. */
  windows: readonly Shares[]
  /** Whether enough known sellers are measured to tell who is independent. */
  holds: boolean
}

/** One listing's numbers as evidence has them. */
export function toMeasured({ as_of, rows, windows, holds }: Paid): Measured {
  const [window] = windows
  const counted = window?.shares.flatMap((share) => share.rows) ?? []
  const last = largestOf(
    counted.map(({ at }) => Date.parse(at)),
    0,
  )
  const schemes = new Set(counted.map(({ scheme }) => scheme))
  const paidBy = COUNTED_SCHEMES.filter((scheme) => schemes.has(scheme))
  const known = rows.filter(({ verdict }) => verdict === 'counted')
  return {
    source: OWN_EVIDENCE,
    as_of,
    verified_buyers_30d: window?.buyers ?? 0,
    settlements_30d: window?.settlements ?? 0,
    volume_usd_30d: window?.volume ?? 0,
    top_buyer_share_30d: window?.topShare ?? 0,
    last_settlement_at: last === 0 ? null : new Date(last).toISOString(),
    shared_payout: false,
    ...(holds && { unknown_buyers_30d: countPayers(known) - (window?.shares.length ?? 0) }),
    ...(paidBy.length > 0 && { paid_by: paidBy }),
    wash_flags: WASH_FLAGS.map((flag) => ({ flag, settlements: countOf(rows, flag) })).filter(
      ({ settlements }) => settlements > 0,
    ),
    watch: [...toUntracedWatch(countOf(rows, 'payer_untraced')), ...toBridgedWatch(counted)],
    // Shown beside the counted numbers, so that nobody has to believe the exclusions.
    raw: {
      payers: countPayers(rows),
      settlements: rows.length,
      volume_usd: rows.reduce((sum, { usd_micro }) => sum + usd_micro, 0) / MICRO,
    },
    days: toDays(windows, as_of),
  }
}

function countOf(rows: readonly LedgerPayment[], wanted: LedgerPayment['verdict']): number {
  return rows.filter(({ verdict }) => verdict === wanted).length
}

function countPayers(rows: readonly LedgerPayment[]): number {
  return new Set(rows.map(({ payer }) => payer)).size
}

function toUntracedWatch(count: number): Measured['watch'] {
  const note = `${count} payments wait: we have not seen yet where their payers had the money from.`
  return count === 0 ? [] : [{ id: 'payers_untraced', note }]
}

/** Coins that a bridge redeems, and not their issuer, are shown as such beside the score. */
function toBridgedWatch(counted: readonly LedgerPayment[]): Measured['watch'] {
  return BRIDGED_COINS.flatMap((coin) => {
    const paid = counted.filter(({ network }) => network === coin.network).length
    const note = `${paid} of these payments were made in ${coin.name}, a bridged coin: a bridge redeems it, not its issuer.`
    return paid === 0 ? [] : [{ id: 'bridged_coin', note }]
  })
}

/** The days that had payments, and the last one, so that a drawing ends where the window does. */
function toDays(windows: readonly Shares[], as_of: string): Day[] {
  const lastDay = as_of.slice(0, 10)
  const days = new Map<string, Day>([[lastDay, toDay(lastDay)]])
  for (const { shares } of windows)
    for (const { rows, weight, settlements, micros } of shares) {
      const paid = rows.reduce((sum, { usd_micro }) => sum + usd_micro, 0)
      for (const [date, own] of Map.groupBy(rows, ({ at }) => at.slice(0, 10))) {
        const day = days.get(date) ?? toDay(date)
        const onDay = own.reduce((sum, { usd_micro }) => sum + usd_micro, 0)
        day.buyers += weight / FULL
        day.settlements += (settlements * own.length) / rows.length / FULL
        day.volume_usd += paid === 0 ? 0 : (micros * onDay) / paid / MICRO
        days.set(date, day)
      }
    }
  return [...days.values()].map(roundDay).sort((a, b) => (a.date < b.date ? -1 : 1))
}

function toDay(date: string): Day {
  return { date, settlements: 0, volume_usd: 0, buyers: 0 }
}

/** To millionths: sums of parts depend on the order of what is added. */
function roundDay({ date, settlements, volume_usd, buyers }: Day): Day {
  const round = (value: number) => Math.round(value * MICRO) / MICRO
  return {
    date,
    settlements: round(settlements),
    volume_usd: round(volume_usd),
    buyers: round(buyers),
  }
}
