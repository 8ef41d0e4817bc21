import type { SearchWords } from '../../domain/derived/query-words.ts'
import { splitText } from '../../search/words/split-text.ts'
import { stemWord } from '../../search/words/stem-word.ts'
import type { Fault } from '../content/fault.ts'
import type { PartialListing } from '../content/read-listings.ts'

/** Words a warning names. */
const MOST_NAMED = 20

/**
 * A warning that names related words of the table which no listing has: they find nothing, as long
 * as no listing comes that writes them. One for the whole table: a small content lacks many.
 */
export function findUnusedWords(
  listings: readonly PartialListing[],
  words: Pick<SearchWords, 'related'>,
): Fault[] {
  const written = new Set(listings.flatMap(({ facts }) => stemsOf(facts)))
  const meant = [...new Set(words.related.flatMap((row) => row.meant))]
  const unused = meant.filter((word) => !written.has(stemWord(word)))
  if (unused.length === 0) return []
  const more = unused.length - MOST_NAMED
  const named = `${unused.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  return [
    {
      file: 'tables/search-words.yaml',
      line: null,
      field: 'related',
      message: `no listing has ${unused.length} of the ${meant.length} words it leads to: ${named}`,
      severity: 'warning',
    },
  ]
}

function stemsOf({ name, summary, tags, categories }: PartialListing['facts']): string[] {
  const texts = [name ?? '', summary ?? '', ...(tags ?? []), ...(categories ?? [])]
  return texts
    .flatMap(splitText)
    .flatMap(({ whole, parts }) => [whole, ...parts])
    .map(stemWord)
}
