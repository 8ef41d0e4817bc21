const ELLIPSIS = '…'

/** Control, format and direction characters, private use, and separators other than a space. */
const NOT_PRINTABLE = /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu

/**
 * One printable line: nothing in it moves a cursor, turns what follows or hides from the reader.
 * What it says stays, orders to agents included: pages and kits show it as text.
 * @param maxLength in UTF-16 units, the ellipsis included
 * @example toInertLine('a\u202eb\n\tc', 80) → 'a b c'
 */
export function toInertLine(text: string, maxLength: number): string {
  // Only what may be kept is looked at: a hostile text is as long as the answer it came in.
  const start = text.slice(0, maxLength * 4)
  const line = start.toWellFormed().replace(NOT_PRINTABLE, ' ').replace(/\s+/g, ' ').trim()
  if (line.length <= maxLength && start.length === text.length) return line
  if (line.length < maxLength) return `${line}${ELLIPSIS}`
  return `${line.slice(0, maxLength - ELLIPSIS.length).replace(/[\ud800-\udbff]$/, '')}${ELLIPSIS}`
}
