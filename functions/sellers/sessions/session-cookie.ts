import { RETENTION } from '../../../src/domain/wire/retention.ts'
import { SIGNED_IN_MARK } from '../../../src/site/sellers/controls/signed-in-mark.ts'

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

/**
 * `Set-Cookie` of the mark that tells the sellers' pages whether asking who is signed in is worth a
 * request. It comes, lives and goes with the session, says nothing but "yes", and is sent back with no
 * request to the API. Nothing is decided by it: a forged one costs its forger one answer of 401.
 */
export const signedInMark = (isSecure: boolean) =>
  toMark(`${SIGNED_IN_MARK.value}; Max-Age=${RETENTION.session_days * 24 * 60 * 60}`, isSecure)

/** `Set-Cookie` that removes the mark. */
export const blankSignedInMark = (isSecure: boolean) => toMark('; Max-Age=0', isSecure)

function toMark(value: string, isSecure: boolean): string {
  const { name, path } = SIGNED_IN_MARK
  return `${name}=${value}; Path=${path}; SameSite=Lax${isSecure ? '; Secure' : ''}`
}
