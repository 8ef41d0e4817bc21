import type { ListingHistory } from '../../compiled.ts'
import type { Verdict } from '../../domain/trust/ledger-facts.ts'
import { OUTCOME_WORDS, PROTOCOL_NAMES } from '../rows/decision-facts.ts'

const MICRO = 1_000_000

const VERDICT_WORDS: Record<Verdict, string> = {
  counted: 'Counts',
  self_payment: 'Left out: paid itself',
  funded_by_payout: 'Left out: had money of the seller',
  round_trip: 'Left out: most went back',
  burst_cohort: 'Left out: one hand, many wallets',
  nothing_paid: 'Left out: moved nothing',
  payee_not_owned: 'Left out: nobody’s payee here',
  payer_untraced: 'Waits: payer not traced yet',
}

const DRIFT_WORDS = {
  tools: 'Tool',
  price: 'Price of',
  network: 'Network of',
  payee: 'Payee of',
} as const

type History = Pick<ListingHistory, 'probes' | 'drift' | 'payments'>

/** Tables for occasional lookup; none without rows. */
export function toEvidenceTables({ probes, drift, payments }: History) {
  const tables = [
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
      head: ['When, UTC', 'Protocol', 'Outcome', 'ms', 'What came'],
      rows: probes
        .slice(-5)
        .toReversed()
        .map(({ at, protocol, outcome, ms = '', saw = '' }) => [
          ...[toMinute(at), PROTOCOL_NAMES[protocol], OUTCOME_WORDS[outcome]],
          ...[ms, saw],
        ]),
    },
    {
      title: 'What changed',
      head: ['Seen, UTC', 'What', 'Was', 'Is'],
      rows: drift.map(({ at, what, name, was, is }) => [
        ...[toMinute(at), `${DRIFT_WORDS[what]} \u2068${name}\u2069`],
        ...[was ?? 'not there', is ?? 'gone'],
      ]),
    },
  ]
  return tables.filter(({ rows }) => rows.length > 0)
}

/** @example toShort('0x1234567890abcdef') → '0x1234…cdef' */
function toShort(text: string): string {
  return text.length > 14 ? `${text.slice(0, 6)}…${text.slice(-4)}` : text
}

function toMinute(at: string): string {
  return at.slice(0, 16).replace('T', ' ')
}
