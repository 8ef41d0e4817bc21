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

/** The bytes that a release's texts add to every search response: rows, and the JSON between them. */
export function prepareTexts(index: SearchIndex, { texts, also_search, tasks }: Stated) {
  const { showcase, featured_label, sponsored_policy, ranking, attribution } = texts
  const before = { sponsored: [], sponsored_policy, also_search, ranking, payments_enabled: false }
  const label = JSON.stringify(featured_label)
  const named = tasks.filter(({ sellers }) => sellers > 0)
  return {
    featured: featuredRows(index, showcase),
    /** The part between the showcase and our own matching listings. */
    afterFeatured: toBytes(`],"featured_label":${label},"featured_first_party":[`),
    /** `beforeNotes`: the part between our own listings and the notes; `afterNotes`: the rest. */
    beforeNotes: toBytes(`],${JSON.stringify(before).slice(1, -1)},"notes":`),
    afterNotes: toBytes(`,"attribution":${JSON.stringify(attribution)}}`),
    /** By task id: the bytes added to an answer if the query is for the task. */
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
