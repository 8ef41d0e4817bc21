/** Control, format and direction characters: what moves a terminal's cursor or hides text. */
const NOT_PRINTABLE = /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/**
 * Texts of sellers made safe for a terminal: lines stay, nothing else moves the cursor.
 *
 * @example toPrintable('a\u001b[2Jb\n') → 'a [2Jb\n'
 */
export function toPrintable(text: string): string {
  return text.toWellFormed().replace(NOT_PRINTABLE, (character) => {
    return character === '\n' || character === '\t' ? character : ' '
  })
}

/** One line of it. */
export function toLine(text: string): string {
  return toPrintable(text).replace(/\s+/g, ' ').trim()
}

/** JSON with the same characters as escapes: it says the same, and moves no cursor. */
export function escapeJson(json: string): string {
  return json.replace(NOT_PRINTABLE, (character) =>
    /[\n\t]/.test(character)
      ? character
      : [...Array(character.length).keys()]
          .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
          .join(''),
  )
}

/** For programs, and safe for a terminal. */
export function printJson(value: unknown): void {
  console.log(escapeJson(JSON.stringify(value, null, 2)))
}
