import type { ListingHistory } from '../../compiled.ts'
import type { KitOperation } from '../../domain/kit/kit-entries.ts'
import { isAbove, toCountText, toSumText, toUsd } from '../../domain/listing/pricing.ts'
import { SUBJECTS } from '../../domain/probe/merge.ts'
import type { Day, Drift, Probe } from '../../domain/trust/evidence.ts'
import type { Verdict } from '../../domain/trust/ledger-facts.ts'
import { nameOfScheme } from '../../domain/trust/payments.ts'
import { lastPriceOf, toDay } from '../../domain/views/known-view.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'
import { toWorth } from '../../domain/views/trust-view.ts'
import { DAY_MS } from '../../domain/wire/shapes.ts'
import { isTelling, isUp } from '../../domain/wire/vocabulary.ts'
import { OUTCOME_WORDS, PROTOCOL_NAMES } from '../rows/decision-facts.ts'

type Trust = ListingView['trust']

/** The panel's texts if there is no measurement or score: all are empty. */
const NO_WORDS = {
  /** Label and value of each measured number. */
  numbers: [],
  /** All payments. */
  volume: '',
  /** How the counted payments were made, as one line. */
  paidBy: '',
  /** What was excluded or is watched, one sentence each. */
  notes: [],
}

/** The trust panel on a listing's page, in plain words. */
export function toTrustWords(trust: Trust) {
  if (trust.evidence === 'no_payment_data')
    return {
      ...NO_WORDS,
      headline: 'No payment evidence yet',
      explanation:
        'No payments that could count were seen in the last 30 days, so there is no score. Most services are free, new, or paid in ways that leave no public trace.',
    }
  const unknown = trust.unknown_buyers_30d
  const measured = { numbers: toNumbers(trust), volume: toSumText(trust.volume_usd_30d) }
  if (trust.evidence === 'no_independent_paid_usage_30d')
    return {
      ...NO_WORDS,
      ...measured,
      headline: 'No independent buyers in 30 days',
      explanation:
        unknown === undefined || unknown === 0
          ? 'Payments to this seller are measured, but none in the last 30 days came from an independent buyer, so there is no score yet.'
          : `We know nothing about the ${toCountText(unknown, 'buyer')} who paid this seller in the last 30 days, so there is no score yet. The buyers may well be real.`,
      notes: toNotes(trust.wash_flags, []),
    }
  const worth = toWorth(trust)
  const few = trust.sample === 'low' ? ' These buyers are few: take the score as a first sign.' : ''
  return {
    ...measured,
    headline:
      unknown === undefined
        ? `${toCountText(trust.verified_buyers_30d, 'buyer')}, real or invented`
        : 'Paid by independent buyers',
    explanation: `${worth}${few}`,
    paidBy:
      trust.paid_by === undefined ? '' : `Paid by: ${trust.paid_by.map(nameOfScheme).join(', ')}.`,
    notes: toNotes(trust.wash_flags, trust.watch),
  }
}

function toNumbers(trust: Exclude<Trust, { evidence: 'no_payment_data' }>) {
  const last = trust.last_settlement_at
  const { raw } = trust
  // The counted number and the number before exclusions, if both are known.
  const of = (all: string | undefined) => (all === undefined ? '' : ` of ${all}`)
  return [
    [
      // No seller vouches for any of these buyers.
      trust.unknown_buyers_30d === undefined ? 'Counted buyers' : 'Verified buyers',
      `${trust.verified_buyers_30d}${of(raw && toCountText(raw.payers, 'payer'))}`,
    ],
    ...(trust.unknown_buyers_30d === undefined
      ? []
      : [['Buyers we know nothing about', String(trust.unknown_buyers_30d)] as const]),
    ['Settlements', `${trust.settlements_30d}${of(raw && String(raw.settlements))}`],
    ['Volume', `${toSumText(trust.volume_usd_30d)}${of(raw && toSumText(raw.volume_usd))}`],
    [
      'Largest buyer',
      trust.settlements_30d === 0
        ? 'none'
        : `${Math.round(trust.top_buyer_share_30d * 100)} % of the volume`,
    ],
    ['Last settlement', last === null ? 'none seen' : toDay(last, 'short')],
    ['Payout address', trust.shared_payout ? 'shared with other listings' : 'its own'],
  ] as const
}

function toNotes(
  washFlags: readonly { flag: string; settlements: number; note?: string | undefined }[],
  watch: readonly { id: string; note: string }[],
): string[] {
  return [
    ...washFlags.map(
      ({ flag, settlements, note }) =>
        `${toCountText(settlements, 'settlement')} left out as ${toWords(flag)}${note === undefined ? '' : `: ${note}`}`,
    ),
    // The first sentence already states this.
    ...watch
      .filter(({ id }) => id !== 'independence_unmeasured')
      .map(({ id, note }) => `Watched (${toWords(id)}): ${note}`),
  ]
}

function toWords(id: string): string {
  return id.replaceAll('_', ' ')
}

/** Days drawn. */
const SHOWN_DAYS = 30
/** With fewer days a chart is less clear than its numbers. */
const CHART_DAYS = 7

/** Settlements per day for the last thirty measured days; null if the days span less than a week. */
export function toSettlementBars(days: readonly Day[]) {
  const [start, end] = [days[0]?.date, days.at(-1)?.date]
  if (start === undefined || end === undefined) return null
  const last = Date.parse(end)
  if (last - Date.parse(start) < (CHART_DAYS - 1) * DAY_MS) return null
  const dates = toDates(last, SHOWN_DAYS)
  const byDate = new Map(days.map((day) => [day.date, day.settlements]))
  const counts = dates.map((date) => byDate.get(date) ?? 0)
  const most = counts.reduce((max, count) => Math.max(max, count), 1)
  const sum = counts.reduce((total, count) => total + count, 0)
  return {
    shares: counts.map((count) => count / most),
    text: `Settlements a day over ${SHOWN_DAYS} days: ${Math.round(sum)} in all, at most ${Math.round(most)} on one day`,
    ends: [dates[0], end],
  }
}

/** The last `length` days up to `last`, oldest first. @param last milliseconds since the epoch */
export function toDates(last: number, length: number): string[] {
  return Array.from({ length }, (_, index) =>
    new Date(last - (length - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  )
}

/** Results of the probes on record. Our own faults, and services that cannot be probed, are not counted. */
export function toProbeCounts(probes: readonly Probe[]): [label: string, value: string][] {
  const judged = probes.filter(isTelling)
  const good = judged.filter(isUp).length
  return judged.length < 2 ? [] : [['Our probes', `${good} of ${judged.length} answered`]]
}

const MICRO = 1_000_000

const VERDICT_WORDS: Record<Verdict, string> = {
  counted: 'Counts',
  self_payment: 'Left out: paid itself',
  funded_by_payout: 'Left out: paid with the seller’s money',
  round_trip: 'Left out: most of it went back',
  burst_cohort: 'Left out: one person, many wallets',
  nothing_paid: 'Left out: moved no money',
  payee_not_owned: 'Left out: not a listing’s payee',
  payer_untraced: 'Not counted yet: payer not traced',
}

type History = Pick<ListingHistory, 'probes' | 'drift' | 'payments'>

/** Tables for occasional lookup; tables without rows are left out. */
export function toEvidenceTables({ probes, drift, payments }: History) {
  const tables = [
    {
      title: 'What changed',
      /** Notices link to this table, so it is open. */
      id: 'changed',
      head: ['Seen, UTC', 'What', 'Was', 'Is'],
      rows: drift.map(({ at, what, name, was, is }) => [
        ...[toMinute(at), `${SUBJECTS[what]} \u2068${name}\u2069`],
        ...[was ?? 'not there', is ?? 'gone'].map((text) => ({ text, isCode: what === 'payee' })),
      ]),
    },
    {
      title: 'Payments behind the score',
      head: ['When, UTC', 'Verdict', 'USD', 'Payer', 'Transaction'],
      rows: payments.map(({ at, verdict, usd_micro, payer, transaction }) => [
        toMinute(new Date(at).toISOString()),
        VERDICT_WORDS[verdict],
        usd_micro / MICRO,
        { text: toShort(payer), isCode: true },
        { text: toShort(transaction), isCode: true },
      ]),
    },
    {
      title: 'Last probes',
      head: ['When, UTC', 'Protocol', 'Outcome', 'ms', 'Answer'],
      rows: probes
        .slice(-5)
        .toReversed()
        .map(({ at, protocol, outcome, ms = '', saw = '' }) => [
          ...[toMinute(at), PROTOCOL_NAMES[protocol], OUTCOME_WORDS[outcome][0]],
          ...[ms, saw],
        ]),
    },
  ]
  return tables.filter(({ rows }) => rows.length > 0)
}

/** @example toShort('0x1234567890abcdef') → '0x1234…cdef' */
function toShort(text: string): string {
  return text.length > 14 ? `${text.slice(0, 6)}…${text.slice(-4)}` : text
}

/** @example shortenPayees('It is eip155:8453:0x1234567890abcdef1234.') → 'It is 0x1234…1234.' */
export function shortenPayees(sentence: string): string {
  return sentence.replace(/\b(?:eip155|solana):\w+:(\w+)/g, (_, address) => toShort(address))
}

/** @example toMinute('2026-11-26T20:00:00Z') → '26 Nov 2026, 20:00' */
export function toMinute(at: string): string {
  return `${toDay(at, 'short')}, ${at.slice(11, 16)}`
}

export interface CallTag {
  text: string
  tone: 'plain' | 'strong' | 'bad'
}

/**
 * The result of our probe's own call to an operation, in two words next to its listed price; and the price that
 * its seller wanted last, if that is above the listed one.
 */
export function toSeenTags(operation: KitOperation, drift: readonly Drift[] = []): CallTag[] {
  const { seen, price } = operation
  const usd = lastPriceOf(operation, drift)
  const isRaised = usd !== undefined && isAbove({ usd, price })
  const raised: CallTag[] = isRaised ? [{ text: `asked ${toUsd(usd)}`, tone: 'bad' }] : []
  if (seen === undefined || !isTelling(seen)) return raised
  const { outcome, status, min_usd } = seen
  if (outcome === 'gated') return [...raised, { text: 'asked for a key', tone: 'strong' }]
  if (outcome !== 'spoke') {
    const text = status === undefined ? 'no answer' : `answered ${status}`
    return [...raised, { text, tone: 'bad' }]
  }
  if (isRaised) return raised
  return [{ text: min_usd === undefined ? 'answered' : `asked ${toUsd(min_usd)}`, tone: 'plain' }]
}

/** One decimal is enough for a reader. */
function toRounded(value: ListingView['signals'][string] | undefined) {
  return typeof value === 'number' ? Math.round(value * 10) / 10 : value
}

const LABELS: Readonly<Record<string, readonly [label: string, unit?: string]>> = {
  uptime_24h: ['Uptime, 24 hours', ' %'],
  uptime_30d: ['Uptime, 30 days', ' %'],
  p95_ms: ['95 % answered within', ' ms'],
  compliance_grade: ['Compliance grade'],
  risk_level: ['Risk level'],
  endpoint_count: ['Endpoints'],
  openapi_paid_ops: ['Paid operations in OpenAPI'],
}

/**
 * Signals for people, in a fixed order; the provider's own judgements last.
 * @example toSignalWords({ p95_ms: 310 }) → [['95 % answered within', '310 ms']]
 */
export function toSignalWords(signals: ListingView['signals']): [label: string, value: string][] {
  const known = Object.entries(LABELS).flatMap(([key, [label, unit = '']]): [string, string][] =>
    signals[key] === undefined ? [] : [[label, `${toRounded(signals[key])}${unit}`]],
  )
  const judged = Object.entries(signals).flatMap(([key, value]): [string, string][] =>
    Object.hasOwn(LABELS, key) || key.endsWith('_as_of') ? [] : [[toLabel(key), toWord(value)]],
  )
  const own = [...known, ...judged]
  const day = Object.entries(signals).find(
    ([key]) => key.endsWith('_as_of') && `${key.slice(0, -'as_of'.length)}status` in signals,
  )?.[1]
  // A number means nothing without its day.
  return own.length === 0 || day === undefined
    ? own
    : [['Measured on', toDay(String(day), 'short')], ...own]
}

/** `x402_list_status` → `Status (x402 list)`: the prefix is the provider that reports it. */
function toLabel(key: string): string {
  const end = key.lastIndexOf('_')
  const word = key.slice(end + 1)
  const provider = key.slice(0, Math.max(end, 0)).replaceAll('_', '-')
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}${provider === '' ? '' : ` (${provider})`}`
}

function toWord(value: string | number | boolean): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return String(value)
}
