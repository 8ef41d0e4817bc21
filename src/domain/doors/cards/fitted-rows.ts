import { cutText } from '../../derived/cut-text.ts'
import type { CompactRow } from '../../search/search-response.ts'

/** A search of five stays within this many bytes of JSON: an agent pays for each of them. */
export const ANSWER_BYTES = 2048
/** The lengths summaries are cut to, one after the other, until the answer fits. */
const SUMMARY_LENGTHS = [140, 100, 70, 40]

const encoder = new TextEncoder()

/**
 * The rows with summaries as long as the answer has room for. Everything else stays whole, and a
 * larger page than five has room in proportion.
 */
export function fitRows(rows: readonly CompactRow[], otherBytes: number): CompactRow[] {
  const room = ANSWER_BYTES * Math.max(1, rows.length / 5) - otherBytes
  const cuts = SUMMARY_LENGTHS.map((length) => () => rows.map((row) => cutRow(row, length)))
  for (const cut of [() => [...rows], ...cuts]) {
    const fitted = cut()
    if (sizeOf(fitted) <= room) return fitted
  }
  return rows.map((row) => cutRow(row, SUMMARY_LENGTHS.at(-1) ?? 40))
}

/** Bytes of the value as JSON. */
export function sizeOf(value: unknown): number {
  return encoder.encode(JSON.stringify(value)).length
}

function cutRow(row: CompactRow, length: number): CompactRow {
  return { ...row, summary: cutText(row.summary, length) }
}
