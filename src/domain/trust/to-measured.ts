import { COUNTED_SCHEMES } from '../settlement/schemes/schemes.ts'
import { BRIDGED_COINS } from '../settlement/usd-assets.ts'
import { WASH_FLAGS } from '../wash/wash.ts'
import type { Shares } from './count-shares.ts'
import { type Day, type Measured, OWN_EVIDENCE } from './evidence.ts'
import type { LedgerPayment } from './ledger-payment.ts'

const MICRO = 1_000_000

interface Paid {
  as_of: string
  /** Of the window, including those that do not count. */
  rows: readonly LedgerPayment[]
  /** Counted payments, this window first, then earlier ones. */
  windows: readonly (Shares | undefined)[]
  /** Whether enough known sellers are measured to tell who is independent. */
  holds: boolean
}

/** One listing's numbers as evidence has them. */
export function toMeasured({ as_of, rows, windows, holds }: Paid): Measured {
  const [window] = windows
  const paidBy = COUNTED_SCHEMES.filter((scheme) => window?.schemes.has(scheme))
  const known = rows.filter(({ verdict }) => verdict === 'counted')
  return {
    source: OWN_EVIDENCE,
    as_of,
    verified_buyers_30d: window?.buyers ?? 0,
    settlements_30d: window?.settlements ?? 0,
    volume_usd_30d: window?.volume ?? 0,
    top_buyer_share_30d: window?.topShare ?? 0,
    last_settlement_at: window === undefined ? null : new Date(window.last).toISOString(),
    shared_payout: false,
    ...(holds && { unknown_buyers_30d: countPayers(known) - (window?.weights.size ?? 0) }),
    ...(paidBy.length > 0 && { paid_by: paidBy }),
    wash_flags: WASH_FLAGS.map((flag) => ({ flag, settlements: countOf(rows, flag) })).filter(
      ({ settlements }) => settlements > 0,
    ),
    watch: [
      ...toUntracedWatch(countOf(rows, 'payer_untraced')),
      ...toBridgedWatch(window?.networks ?? new Map()),
    ],
    // Shown next to the counted numbers, so that nobody has to trust the exclusions.
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
function toBridgedWatch(networks: ReadonlyMap<string, number>): Measured['watch'] {
  return BRIDGED_COINS.flatMap(({ network, name }) => {
    const paid = networks.get(network) ?? 0
    const note = `${paid} of these payments were made in ${name}, a bridged coin: a bridge redeems it, not its issuer.`
    return paid === 0 ? [] : [{ id: 'bridged_coin', note }]
  })
}

const DAY_MS = 86_400_000

/** The days with payments, and the last one, so that a chart ends where the window does. */
function toDays(windows: readonly (Shares | undefined)[], as_of: string): Day[] {
  const lastDay = Math.floor(Date.parse(as_of) / DAY_MS)
  const counts = [
    ...windows.flatMap((window) => [...(window?.days ?? [])]),
    [lastDay, null] as const,
  ]
  const byDay = [...Map.groupBy(counts, ([day]) => day)].sort(([a], [b]) => a - b)
  return byDay.map(([day, own]) => {
    // To millionths: sums of parts depend on the order of what is added.
    const sum = (of: 'settlements' | 'volume' | 'buyers') =>
      Math.round(own.reduce((all, [, part]) => all + (part?.[of] ?? 0), 0) * MICRO) / MICRO
    return {
      date: new Date(day * DAY_MS).toISOString().slice(0, 10),
      settlements: sum('settlements'),
      volume_usd: sum('volume'),
      buyers: sum('buyers'),
    }
  })
}
