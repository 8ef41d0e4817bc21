import type { SearchQuery } from '../../src/domain/search-query.ts'
import { findId } from '../../src/search/find-id.ts'
import { idIn, readBody } from '../../src/search/index-rows.ts'
import type { SearchIndex } from '../../src/search/loaded-index.ts'
import type { RankedRow, SearchOutcome } from '../../src/search/search-index.ts'

/** The texts of a search response that come from the content. */
export interface SearchTexts {
  /** Ids of the showcase row, in order; an id that isn't one of our own listings is left out. */
  featured: readonly string[]
  featured_label: string
  sponsored_policy: string
  also_search: readonly { name: string; url: string; note: string }[]
  ranking: string
  attribution: readonly string[]
}

export interface SearchResponseInput {
  index: SearchIndex
  searchId: string
  query: SearchQuery
  outcome: SearchOutcome
  texts: SearchTexts
}

/** Every body ends with the closing brackets of `links` and of the summary. */
const BODY_ENDING_BYTES = 2

/**
 * Puts the response together from the bodies' prepared bytes: nothing is parsed or serialised
 * again. Only `links.go` and `relevance` are added to each listing; `pos` counts within `results`,
 * so that listings of our own rows carry a link without it.
 */
export function writeSearchResponse(input: SearchResponseInput): Uint8Array<ArrayBuffer> {
  const { index, searchId, query, outcome, texts } = input
  const pieces: Uint8Array[] = []
  const text = (part: string) => pieces.push(Buffer.from(part))
  const list = (part: 'organic' | 'firstParty', rows: readonly RankedRow[], counted: boolean) =>
    rows.forEach(({ row, relevance }, at) => {
      const body = readBody(index, part, row)
      const position = counted ? `&pos=${at + 1}` : ''
      if (at > 0) text(',')
      pieces.push(body.subarray(0, -BODY_ENDING_BYTES))
      text(
        `,"go":"/go/${idIn(body)}?sid=${searchId}${position}&src=api"},"relevance":${relevance}}`,
      )
    })

  text(
    `{"search_id":"${searchId}","query":${JSON.stringify(query)},"total":${outcome.organic.total},"results":[`,
  )
  list('organic', outcome.organic.rows, true)
  text('],"featured":[')
  list('firstParty', featuredRows(index, texts.featured), false)
  text(`],"featured_label":${JSON.stringify(texts.featured_label)},"featured_first_party":[`)
  list('firstParty', outcome.firstParty.rows, false)
  const { sponsored_policy, also_search, ranking, attribution } = texts
  const rest = { sponsored: [], sponsored_policy, also_search, ranking, payments_enabled: false }
  text(`],${JSON.stringify({ ...rest, notes: outcome.notes, attribution }).slice(1)}`)
  return Buffer.concat(pieces)
}

function featuredRows(index: SearchIndex, ids: readonly string[]): RankedRow[] {
  const { firstParty } = index
  return ids
    .map((id) => findId(index, 'firstParty', id))
    .filter((row) => row >= 0)
    .map((row) => ({ row, relevance: firstParty.multipliers[row] ?? 1 }))
}
