import type { ReleaseFile } from '../../src/domain/derived/tables.ts'
import { multiplierOf, NO_TRUST } from '../../src/search/index/columns.ts'
import { findId, type SearchIndex } from '../../src/search/index/index-file.ts'
import type { RankedRow } from '../../src/search/query/rank-rows.ts'
import { toBytes } from '../http/answers.ts'

/** The texts of a search response that come from the content. */
export interface SearchTexts {
  /** Ids of the showcase row, in order; an id that isn't one of our own listings is left out. */
  featured: readonly string[]
  featured_label: string
  sponsored_policy: string
  also_search: readonly { name: string; url: string; note: string }[]
  ranking: string
  attribution: readonly string[]
  tasks?: ReleaseFile['tasks']
}

/** What the texts add to every response over one index: rows, and bytes between them. */
export interface PreparedTexts {
  featured: readonly RankedRow[]
  /** From the end of the showcase to our own listings that match. */
  afterFeatured: Uint8Array
  /** From the end of those to the notes, and from there to the end. */
  beforeNotes: Uint8Array
  afterNotes: Uint8Array
  /** By id, as an answer to a query that names the task has it. */
  tasks: ReadonlyMap<string, string>
}

export function toSearchTexts({
  texts,
  also_search,
  tasks,
}: Pick<ReleaseFile, 'texts' | 'also_search'> & Partial<Pick<ReleaseFile, 'tasks'>>): SearchTexts {
  const { showcase, featured_label, sponsored_policy, ranking, attribution } = texts
  const stated = { featured_label, sponsored_policy, also_search, ranking, attribution }
  return { featured: showcase, ...stated, ...(tasks !== undefined && { tasks }) }
}

export function prepareTexts(index: SearchIndex, texts: SearchTexts): PreparedTexts {
  const { featured_label, sponsored_policy, also_search, ranking, attribution } = texts
  const before = { sponsored: [], sponsored_policy, also_search, ranking, payments_enabled: false }
  const label = JSON.stringify(featured_label)
  return {
    featured: featuredRows(index, texts.featured),
    afterFeatured: toBytes(`],"featured_label":${label},"featured_first_party":[`),
    beforeNotes: toBytes(`],${JSON.stringify(before).slice(1, -1)},"notes":`),
    tasks: new Map(
      (texts.tasks ?? []).flatMap((task) =>
        task.sellers === 0 ? [] : [[task.id, `,"tasks":[${JSON.stringify(task)}]`]],
      ),
    ),
    afterNotes: toBytes(`,"attribution":${JSON.stringify(attribution)}}`),
  }
}

function featuredRows(index: SearchIndex, ids: readonly string[]): RankedRow[] {
  const { trustMarks } = index
  return ids
    .map((id) => findId(index, id))
    .filter((row) => row >= index.firstParty.start)
    .map((row) => ({ row, relevance: multiplierOf(trustMarks[row] ?? NO_TRUST) }))
}
