const COMBINING_MARKS = /\p{M}+/gu
const PLAIN = /^\p{ASCII}*$/u

/** Letters that compatibility decomposition leaves alone although people type them plainly. */
const LETTERS: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ł: 'l',
  ı: 'i',
  þ: 'th',
}
const LETTER = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'gu')

/**
 * One spelling for all ways to write a word: compatibility forms, case and accents removed.
 * @example foldText('Café ＡＰＩ') // 'cafe api'
 */
export function foldText(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase()
  const bare = text.normalize('NFKD').toLowerCase().replace(COMBINING_MARKS, '')
  return bare.normalize('NFC').replace(LETTER, (letter) => LETTERS[letter] ?? letter)
}
