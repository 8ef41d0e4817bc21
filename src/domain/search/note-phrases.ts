/** Phrases in notes that a page turns into links: the search writes them, the page finds them. */
export const NOTE_PHRASES = {
  closestWords: 'Nothing was found. The closest words',
  withoutFilters: 'without them there are',
  nearestCategory: 'nearest category is',
  tooCommon: 'too common to tell',
} as const
