import type { FilterVocabulary } from './filter-values.ts'
import type { BodyStore, IndexPart } from './index-part.ts'

export type PartName = 'organic' | 'firstParty'

/** A loaded search index. Searching it is `searchIndex`; nothing in it changes. */
export interface SearchIndex {
  filters: FilterVocabulary
  /** Where the bit set of each filter value lies, counted in bit sets. */
  filterPlaces: ReadonlyMap<string, number>
  organic: IndexPart
  firstParty: IndexPart
  /** Bodies of the organic rows, then of our own. */
  bodies: BodyStore
  /** Whether bodies are verified as they are read; not needed once all were. */
  verifyReads: boolean
}
