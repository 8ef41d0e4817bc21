import { sameWord } from './same-words.ts'
import { stemWord } from './stem-word.ts'

const MAX_REMEMBERED = 20_000
const remembered = new Map<string, string>()

/** The term of the dictionary that a folded word stands for. Remembers: text repeats its words. */
export function toTerm(word: string): string {
  const known = remembered.get(word)
  if (known !== undefined) return known
  const term = sameWord(stemWord(word))
  if (remembered.size >= MAX_REMEMBERED) remembered.clear()
  remembered.set(word, term)
  return term
}
