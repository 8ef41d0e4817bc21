import type { ListingHistory } from '../../compiled.ts'
import { html } from '../frame/html.ts'
import { OUTCOME_WORDS, PROTOCOL_NAMES } from '../rows/decision-facts.ts'

const DRIFT_WORDS = { tool: 'Tool', price: 'Price of', payee: 'Payee of' } as const

/** What is looked up now and then, with a class and cells for each row; none without rows. */
export function toEvidenceTables({ probes, drift }: Pick<ListingHistory, 'probes' | 'drift'>) {
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
  return [recent, changed].filter(({ rows }) => rows.length > 0)
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

function toTimeCell(at: string) {
  return html`<td><time datetime="${at}">${at.slice(0, 16).replace('T', ' ')}</time></td>`
}
