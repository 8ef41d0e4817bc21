import type { Word } from '../words/split-text.ts'
import type { FilterPhrase, WordSets } from '../words/word-sets.ts'

/** Words that say enough for those of manner to be left out; for a stretch of time one is enough. */
const MIN_NAMED = 2

export interface ToldWords {
  kept: readonly Word[]
  /** What was left out, for whoever asked. Stop words go without saying. */
  notes: readonly string[]
}

/**
 * Leaves out words that carry no task, and phrases that sound like a filter, unless the query has
 * nothing else. Each step takes more than the one before; the last that leaves something counts.
 */
export function leaveOut(words: readonly Word[], sets: WordSets): ToldWords {
  const phrases = findPhrases(words, sets)
  const asides = findAsides(words, sets)
  const steps: ((word: Word) => boolean)[] = [
    (word) => phrases.has(word) || sets.stop.has(word.whole),
    ({ whole }) => sets.generic.has(whole),
    ({ whole }) => sets.filler.has(whole),
  ]
  let kept = words
  for (const isLeftOut of steps) {
    const rest = kept.filter((word) => !isLeftOut(word))
    if (rest.length > 0) kept = rest
  }
  const named = kept.filter((word) => !asides.words.has(word))
  if (named.length >= asides.enough) kept = named
  return { kept, notes: notesOf(words, kept, { sets, phrases }) }
}

function findPhrases(words: readonly Word[], { filters }: WordSets): Map<Word, FilterPhrase> {
  const found = new Map<Word, FilterPhrase>()
  for (let at = 0; at < words.length; ) {
    const phrase = filters.find(({ words: texts }) =>
      texts.every((text, offset) => words[at + offset]?.whole === text),
    )
    const length = phrase?.words.length ?? 1
    if (phrase !== undefined)
      for (const word of words.slice(at, at + length)) found.set(word, phrase)
    at += length
  }
  return found
}

/** Words of time, degree and manner; a stretch of time is one behind a word such as `next`. */
function findAsides(words: readonly Word[], { aside, spans, spanStarts }: WordSets) {
  const isSpan = ({ whole }: Word, at: number) =>
    spans.has(whole) && spanStarts.has(words[at - 1]?.whole ?? '')
  const found = words.filter((word, at) => aside.has(word.whole) || isSpan(word, at))
  return { words: new Set(found), enough: words.some(isSpan) ? 1 : MIN_NAMED }
}

function notesOf(
  words: readonly Word[],
  kept: readonly Word[],
  { sets, phrases }: { sets: WordSets; phrases: ReadonlyMap<Word, FilterPhrase> },
): string[] {
  const out = words.filter((word) => !kept.includes(word))
  const plain = out.filter((word) => !phrases.has(word) && !sets.stop.has(word.whole))
  const said = [...new Set(plain.map(({ whole }) => `“${whole}”`))]
  const used = new Set(out.flatMap((word) => phrases.get(word) ?? []))
  return [
    ...[...used].map(
      ({ words: texts, use }) => `Left out “${texts.join(' ')}”: to filter, use ${use}.`,
    ),
    ...(said.length > 0 ? [`Left out ${said.join(', ')}: too common to tell listings apart.`] : []),
  ]
}
