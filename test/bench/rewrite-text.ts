import type { SeededRandom } from './seeded-random.ts'

/** How often a word gives way to one drawn from all texts, and how often to one never seen. */
export const REPLACED = 0.4
const COINED = 0.02

/** The text with some of its words changed for others. */
export function rewriteText(text: string, words: readonly string[], random: SeededRandom): string {
  return text
    .split(/\s+/)
    .map((word) => {
      const chance = random.next()
      if (chance < COINED) return coin(random)
      return chance < REPLACED ? random.pick(words) : word
    })
    .join(' ')
}

function coin(random: SeededRandom): string {
  const syllables = [
    'ba',
    'ce',
    'di',
    'fo',
    'gu',
    'ka',
    'le',
    'mi',
    'no',
    'pru',
    'sta',
    'tro',
    'ven',
    'xi',
    'zor',
  ]
  return Array.from({ length: 3 + random.below(2) }, () => random.pick(syllables)).join('')
}
