/** Texts as numbers, counted from 0 in the order they come: arithmetic is cheaper than strings. */
export function createLexicon() {
  const numbers = new Map<string, number>()
  const texts: string[] = []
  return {
    /** The number of a text; a new one for a text not seen before. */
    numberOf(text: string): number {
      const known = numbers.get(text)
      if (known !== undefined) return known
      numbers.set(text, texts.length)
      texts.push(text)
      return texts.length - 1
    },
    /** The number of a text, or -1. */
    find: (text: string): number => numbers.get(text) ?? -1,
    textOf: (number: number): string => texts[number] ?? '',
  }
}
