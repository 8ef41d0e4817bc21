import type { SearchIndex } from '../index/index-shape.ts'
import { type FilterPhrase, findPhrases } from '../words/filter-phrases.ts'
import type { Word } from '../words/split-text.ts'
import type { WordSets } from '../words/word-sets.ts'

type LeftOutIndex = Pick<SearchIndex, 'words' | 'noun'>

/** Leaves out words that carry no task, step by step; the last step that leaves some counts. */
export function leaveOut(
  words: readonly Word[],
  { words: sets, noun }: LeftOutIndex,
  topics: readonly string[] = [],
) {
  const phrases = new Map(
    [...findPhrases(words, sets.phrases)].filter(([, { written }]) => !topics.includes(written)),
  )
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
  const out = words.filter((word) => !kept.includes(word))
  return {
    kept,
    // Stop words and joined words that nobody typed are not mentioned.
    notes: notesOf(out, { sets, noun, phrases }),
    phrases: [...new Set(out.flatMap((word) => phrases.get(word) ?? []))],
  }
}

function notesOf(
  out: readonly Word[],
  {
    sets,
    noun,
    phrases,
  }: { sets: WordSets; noun: string; phrases: ReadonlyMap<Word, FilterPhrase> },
): string[] {
  const plain = out.filter(
    (word) => !phrases.has(word) && !sets.stop.has(word.whole) && word.parts.length === 0,
  )
  const said = [...new Set(plain.map(({ whole }) => `“${whole}”`))]
  return said.length > 0 ? [`Left out ${said.join(', ')}: too common to tell ${noun}s apart.`] : []
}
