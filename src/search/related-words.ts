import { COMPUTING_ROWS } from './related-computing.ts'
import { LIFE_ROWS } from './related-life.ts'
import { MEDIA_ROWS } from './related-media.ts'
import { MONEY_ROWS } from './related-money.ts'
import { WORK_ROWS } from './related-work.ts'
import { toTerm } from './to-term.ts'

/**
 * Everyday words, and behind `>` what listings say that offer what is asked with them. None stands
 * in for another alone: what that may do is said in `plan-query.ts` and `anywhere-scores.ts`. So a
 * row may be a little ambiguous (`train` is also what is done to a model), as two things asked for
 * have to meet; but a word that any listing may have (data, tool, search) stands behind no `>`.
 */
const ROWS: readonly string[] = [
  ...LIFE_ROWS,
  ...MONEY_ROWS,
  ...MEDIA_ROWS,
  ...WORK_ROWS,
  ...COMPUTING_ROWS,
]

const NONE: readonly string[] = []
/** Rows by asked term, made when the first query asks: a start needn't wait for it. */
let rowsOf: ReadonlyMap<string, readonly string[]> | undefined

/** The terms that listings may use where a query has this one. */
export function relatedTerms(term: string): readonly string[] {
  rowsOf ??= readRows()
  const rows = rowsOf.get(term)
  return rows === undefined ? NONE : meantTerms(rows, term)
}

function readRows(): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const row of ROWS) {
    const [asked = '', meant = ''] = row.split(' > ')
    for (const term of new Set(asked.split(' ').map(toTerm)))
      found.set(term, [...(found.get(term) ?? []), meant])
  }
  return found
}

function meantTerms(rows: readonly string[], asked: string): readonly string[] {
  const terms = rows.flatMap((row) => row.split(' ').map(toTerm))
  return [...new Set(terms)].filter((term) => term !== asked)
}
