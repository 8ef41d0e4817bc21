import type { Word } from './split-text.ts'
import { ASIDE_WORDS, FILLER_WORDS, SPAN_STARTS, STOP_WORDS, TIME_SPANS } from './stop-words.ts'

/** Words that say enough for those of manner to be left out; for a stretch of time one is enough. */
const MIN_NAMED = 2

/** Words that carry no task go, unless the query has nothing else. */
export function tellingWords(words: readonly Word[]): readonly Word[] {
  const telling = words.filter((word) => !STOP_WORDS.has(word.whole))
  const core = telling.filter((word) => !FILLER_WORDS.has(word.whole))
  const spans = timeSpans(words)
  const named = core.filter((word) => !ASIDE_WORDS.has(word.whole) && !spans.has(word))
  if (named.length >= (spans.size > 0 ? 1 : MIN_NAMED)) return named
  if (core.length > 0) return core
  return telling.length > 0 ? telling : words
}

function timeSpans(words: readonly Word[]): ReadonlySet<Word> {
  const follows = (at: number) => SPAN_STARTS.has(words[at - 1]?.whole ?? '')
  return new Set(words.filter(({ whole }, at) => TIME_SPANS.has(whole) && follows(at)))
}
