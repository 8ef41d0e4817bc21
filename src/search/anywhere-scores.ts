import { FIELD_WEIGHTS, inverseDocumentFrequency } from '../domain/search/search-rank.ts'
import type { CodedColumn } from './coded-column.ts'
import { createTables } from './create-tables.ts'

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
export const TOKENS = { asked: 2, related: 1 } as const

const takeTable = createTables()

/**
 * @param names saturation of a term that stands once in a row's name
 * @param of the word: its document frequency (`rows`) among `scoredRows`, its tokens, and a number
 *   of its own for each cursor of a search, from 0 (`slot`)
 */
export function scoreAnywhere(
  { codes, values }: CodedColumn,
  of: { rows: number; scoredRows: number; tokens: number; slot: number },
): AnywhereScores {
  const weight = of.tokens * FIELD_WEIGHTS.name * inverseDocumentFrequency(of.scoredRows, of.rows)
  const scores = takeTable(of.slot, values.length)
  for (let code = 0; code < values.length; code += 1) scores[code] = weight * (values[code] ?? 0)
  return { codes, scores }
}
