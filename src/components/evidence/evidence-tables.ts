import type { ListingHistory } from '../../compiled.ts'
import type { LedgerPayment, Verdict } from '../../domain/trust/ledger-facts.ts'
import { html } from '../frame/html.ts'
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

/** A table for occasional lookup, with a class and cells for each row; none without rows. */
export function toEvidenceTables({
  probes,
  drift,
  payments,
}: Pick<ListingHistory, 'probes' | 'drift' | 'payments'>) {
  const recent = {
    title: 'Last probes',
    class: 'probes',
    head: ['When, UTC', 'Asked for', 'Outcome', 'ms', 'What came'],
    rows: probes.slice(-5).toReversed().map(toProbeCells),
  }
  const changed = {
    title: 'What changed',
    class: 'probes drift',
    head: ['Seen, UTC', 'What', 'Was', 'Is'],
    rows: drift.map(toDriftCells),
  }
  const paid = {
    title: 'Payments behind the score',
    class: 'probes',
    head: ['When, UTC', 'Verdict', 'USD', 'Payer', 'Transaction'],
    rows: payments.map(toPaymentCells),
  }
  return [paid, recent, changed].filter(({ rows }) => rows.length > 0)
}

function toProbeCells({ at, protocol, outcome, ms, saw }: ListingHistory['probes'][number]) {
  return html`
    ${toTimeCell(at)}<td>${PROTOCOL_NAMES[protocol]}</td><td>${OUTCOME_WORDS[outcome]}</td>
    <td>${ms}</td><td dir="auto">${saw}</td>`
}

function toDriftCells({ at, what, name, was, is }: ListingHistory['drift'][number]) {
  return html`
    ${toTimeCell(at)}<td>${DRIFT_WORDS[what]} <bdi dir="auto">${name}</bdi></td>
    <td data-label="Was" dir="auto">${was ?? html`<span class="soft">not there</span>`}</td>
    <td data-label="Is" dir="auto">${is ?? html`<span class="soft">gone</span>`}</td>`
}

function toPaymentCells({ at, verdict, usd_micro, payer, transaction }: LedgerPayment) {
  return html`
    ${toTimeCell(new Date(at).toISOString())}<td>${VERDICT_WORDS[verdict]}</td><td>${usd_micro / MICRO}</td>
    <td><code>${toShort(payer)}</code></td><td><code>${toShort(transaction)}</code></td>`
}

/** @example toShort('0x1234567890abcdef') → '0x1234…cdef' */
function toShort(text: string): string {
  return text.length > 14 ? `${text.slice(0, 6)}…${text.slice(-4)}` : text
}

function toTimeCell(at: string) {
  return html`<td><time datetime="${at}">${at.slice(0, 16).replace('T', ' ')}</time></td>`
}
