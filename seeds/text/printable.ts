const MAX_PRINTED = 300

/**
 * Foreign text for a terminal or a report: one line, no escape sequences (a name may hold
 * `ESC ] 0 ;` and retitle the window), no invisible or direction-changing characters, not long.
 *
 * @example toPrintable('a\u001b[31mb') → 'a\\u{1b}[31mb'
 */
export function toPrintable(text: string, maxLength = MAX_PRINTED): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength).toWellFormed()}…` : text
  return cut
    .toWellFormed()
    .replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
      (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
    )
}
