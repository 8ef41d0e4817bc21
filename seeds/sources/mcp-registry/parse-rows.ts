import { isJsonObject, parseJson } from '../../../src/domain/wire/parse-json.ts'
import type { Refusal } from '../../facts/refusal.ts'

/** Longest row, in UTF-16 units: a server.json has at most a few thousand. */
const MAX_ROW_LENGTH = 256 * 1024

export interface RowBatch {
  values: unknown[]
  refused: Refusal[]
  /** Where the next page starts, for an answer that has one. */
  nextCursor: string | null
}

/**
 * One page of the registry (`{servers: […], metadata}`), one server, a list of either, or a line
 * each (ndjson): told apart by what parses.
 */
export function parseRows(text: string): RowBatch {
  const whole = /^\s*[[{]/.test(text) ? parseJson(text) : undefined
  if (whole !== undefined) return fromValue(whole)
  const batch: RowBatch = { values: [], refused: [], nextCursor: null }
  text.split('\n').forEach((line, i) => {
    if (line.trim() === '') return
    const name = `line ${i + 1}`
    if (line.length > MAX_ROW_LENGTH) {
      const detail = `expected at most ${MAX_ROW_LENGTH} characters, got ${line.length}`
      batch.refused.push({ reason: 'row_too_large', name, detail })
      return
    }
    const value = parseJson(line)
    if (isJsonObject(value)) batch.values.push(value)
    else batch.refused.push({ reason: 'unreadable_row', name, detail: 'expected a JSON object' })
  })
  return batch
}

function fromValue(whole: unknown): RowBatch {
  const batch: RowBatch = { values: [], refused: [], nextCursor: readCursor(whole) }
  const rows = Array.isArray(whole)
    ? whole
    : isJsonObject(whole) && Array.isArray(whole.servers)
      ? whole.servers
      : [whole]
  rows.forEach((value: unknown, i) => {
    const name = `row ${i + 1}`
    if (!isJsonObject(value))
      batch.refused.push({ reason: 'unreadable_row', name, detail: 'expected a JSON object' })
    else if (isTooLarge(value))
      batch.refused.push({
        reason: 'row_too_large',
        name,
        detail: `expected at most ${MAX_ROW_LENGTH} characters`,
      })
    else batch.values.push(value)
  })
  return batch
}

/** Old registries wrote `next_cursor`. */
function readCursor(page: unknown): string | null {
  const metadata = isJsonObject(page) ? page.metadata : undefined
  if (!isJsonObject(metadata)) return null
  const cursor = metadata.nextCursor ?? metadata.next_cursor
  return typeof cursor === 'string' && cursor !== '' ? cursor : null
}

/** Deep nesting makes JSON.stringify throw where JSON.parse didn't: such a row is too large too. */
function isTooLarge(value: object): boolean {
  try {
    return JSON.stringify(value).length > MAX_ROW_LENGTH
  } catch {
    return true
  }
}
