/** Accents and vowel points, which people leave out. Marks that are letters stay, as in Hindi. */
const OPTIONAL_MARKS = /([\p{sc=Latin}\p{sc=Greek}\p{sc=Arabic}\p{sc=Hebrew}])\p{M}+/gu
/** Marks of signs, such as what an emoji leaves behind. */
const STRAY_MARKS = /[\uFE00-\uFE0F\p{Me}]+|(?<![\p{L}\p{N}\p{M}])\p{M}+/gu
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
  ё: 'е',
}
const LETTER = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'gu')

/**
 * One spelling for all ways to write a word: compatibility forms, case and accents removed, marks
 * that are letters kept.
 * @example foldText('Café ＡＰＩ') // 'cafe api'
 */
export function foldText(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase()
  const apart = text.normalize('NFKD').toLowerCase()
  const bare = apart.replace(STRAY_MARKS, '').replace(OPTIONAL_MARKS, '$1')
  return bare.normalize('NFC').replace(LETTER, (letter) => LETTERS[letter] ?? letter)
}
