import { FIELD_WEIGHTS, inverseDocumentFrequency } from '../domain/search-rank.ts'
import type { CodedColumn } from './coded-column.ts'

/**
 * A listing that holds a word in its summary alone scores little beside one whose short name happens
 * to be that word, though it may be the one that holds the rest of the query too. So where several
 * things are asked for, the name of a listing holds tokens for each word of the query that the
 * listing holds anywhere. What one scores follows from the formula: its document frequency is the
 * number of organic rows that hold the word, and it stands once in the name.
 */
export interface AnywhereScores {
  /** Of each row, as the column of name saturations has them. */
  codes: CodedColumn['codes']
  /** By code. */
  scores: Float64Array
}

/** Tokens for a word asked for, and for one that listings may use in its place. */
export const ASKED_TOKENS = 2
export const RELATED_TOKENS = 1

/** A table for each cursor of a search, kept for the next search. */
const tables: Float64Array[] = []

/**
 * @param names saturation of a term that stands once in a row's name
 * @param rows document frequency of the word among `scoredRows`
 * @param slot a number of its own for each cursor of a search, from 0
 */
export function scoreAnywhere(
  { codes, values }: CodedColumn,
  {
    rows,
    scoredRows,
    tokens,
    slot,
  }: {
    rows: number
    scoredRows: number
    tokens: number
    slot: number
  },
): AnywhereScores {
  const weight = tokens * FIELD_WEIGHTS.name * inverseDocumentFrequency(scoredRows, rows)
  const scores = takeTable(slot, values.length)
  for (let code = 0; code < values.length; code += 1) scores[code] = weight * (values[code] ?? 0)
  return { codes, scores }
}

function takeTable(slot: number, size: number): Float64Array {
  const known = tables[slot]
  if (known !== undefined && known.length >= size) return known
  const table = new Float64Array(size)
  tables[slot] = table
  return table
}
