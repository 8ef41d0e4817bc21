const ELLIPSIS = '…'

/** Control, format and direction characters, private use, and separators other than a space. */
const NOT_PRINTABLE = /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu

/**
 * One printable line: nothing in it moves a cursor, reverses text or is invisible. Its words stay,
 * including orders to agents: pages and kits show it as text.
 * @param maxLength in UTF-16 units, including the ellipsis
 * @example toInertLine('a\u202eb\n\tc', 80) → 'a b c'
 */
export function toInertLine(text: string, maxLength: number): string {
  // Only the part that may be kept is read: a hostile text can be as long as its answer.
  const start = text.slice(0, maxLength * 4)
  const line = start.toWellFormed().replace(NOT_PRINTABLE, ' ').replace(/\s+/g, ' ').trim()
  if (line.length <= maxLength && start.length === text.length) return line
  if (line.length < maxLength) return `${line}${ELLIPSIS}`
  return `${line.slice(0, maxLength - ELLIPSIS.length).replace(/[\ud800-\udbff]$/, '')}${ELLIPSIS}`
}
