/** More than any browser sends for one cookie; parsing longer headers helps nobody. */
const MAX_HEADER_LENGTH = 8_192

/**
 * The value of one cookie. Null when it is absent, and also when it comes twice: a second cookie of
 * the same name is how a neighbouring host plants one (RFC 6265 §8.6). No decoding: our values need
 * none, and lucia's own parser throws on `%zz` in somebody else's cookie.
 *
 * @example readSessionCookie('a=1; session=x', 'session') → 'x'
 */
export function readSessionCookie(header: string | null, name: string): string | null {
  if (header === null || header.length > MAX_HEADER_LENGTH) return null
  const prefix = `${name}=`
  const values = header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(prefix))
    .map((pair) => pair.slice(prefix.length))
  return values.length === 1 ? (values[0] ?? null) : null
}
