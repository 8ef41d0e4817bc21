/**
 * The cookie by which scripts of the sellers' pages know that there is a session, which they cannot
 * read themselves. Browsers send it with those pages alone: `/sellers` and what is below it.
 */
export const SIGNED_IN_MARK = { name: 'signed-in', value: 'yes', path: '/sellers' } as const

/**
 * Whether the `document.cookie` of a sellers' page carries the mark.
 *
 * @example hasSignedInMark('theme=dark; signed-in=yes') → true
 */
export function hasSignedInMark(cookies: string): boolean {
  const { name, value } = SIGNED_IN_MARK
  return cookies.split(';').some((pair) => pair.trim() === `${name}=${value}`)
}
