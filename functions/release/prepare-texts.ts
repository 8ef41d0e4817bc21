import type { ReleaseFile } from '../../src/domain/derived/tables.ts'
import { multiplierOf, NO_TRUST } from '../../src/search/index/columns.ts'
import { findId, type SearchIndex } from '../../src/search/index/index-file.ts'
import type { RankedRow } from '../../src/search/query/rank-rows.ts'
import { toBytes } from '../http/answers.ts'

interface Stated extends Pick<ReleaseFile, 'also_search' | 'tasks'> {
  texts: Pick<
    ReleaseFile['texts'],
    'showcase' | 'featured_label' | 'sponsored_policy' | 'ranking' | 'attribution'
  >
}

/** What the texts of a release add to every response over its index: rows, and bytes between them. */
export function prepareTexts(index: SearchIndex, { texts, also_search, tasks }: Stated) {
  const { showcase, featured_label, sponsored_policy, ranking, attribution } = texts
  const before = { sponsored: [], sponsored_policy, also_search, ranking, payments_enabled: false }
  const label = JSON.stringify(featured_label)
  const named = tasks.filter(({ sellers }) => sellers > 0)
  return {
    featured: featuredRows(index, showcase),
    /** From the end of the showcase to our own listings that match. */
    afterFeatured: toBytes(`],"featured_label":${label},"featured_first_party":[`),
    /** From the end of those to the notes, and from there to the end. */
    beforeNotes: toBytes(`],${JSON.stringify(before).slice(1, -1)},"notes":`),
    afterNotes: toBytes(`,"attribution":${JSON.stringify(attribution)}}`),
    /** By task id: these bytes of an answer to a query that names the task. */
    tasks: new Map(named.map((task) => [task.id, `,"tasks":[${JSON.stringify(task)}]`])),
  }
}

/** An id that isn't one of our own listings is left out. */
function featuredRows(index: SearchIndex, ids: readonly string[]): RankedRow[] {
  const { trustMarks } = index
  return ids
    .map((id) => findId(index, id))
    .filter((row) => row >= index.firstParty.start)
    .map((row) => ({ row, relevance: multiplierOf(trustMarks[row] ?? NO_TRUST) }))
}
