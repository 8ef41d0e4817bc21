import { sameWord } from './same-words.ts'
import { stemWord } from './stem-word.ts'

/** The term of the dictionary that a folded word stands for. */
export function toTerm(word: string): string {
  return sameWord(stemWord(word))
}
