/**
 * True when an `Accept-Encoding` header takes this coding (RFC 9110 §12.5.3): named or `*`, and
 * not with a weight of zero.
 *
 * @example acceptsEncoding('gzip;q=0, br', 'gzip') → false
 */
export function acceptsEncoding(header: string | undefined, coding: 'br' | 'gzip'): boolean {
  if (header === undefined) return false
  let star = false
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim())
    if (name !== coding && name !== '*') continue
    const isRefused = parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter))
    if (name === coding) return !isRefused
    star = !isRefused
  }
  return star
}
