/**
 * Fields of a call that are not the caller's to say: who it is and how long its message is are the
 * relay's to know, and a hop's fields are its own (RFC 9110 §7.6.1).
 */
const NOT_THE_CALLERS = new Set([
  'connection',
  'content-length',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
])

const NAME = /^[\w!#$%&'*+.^`|~-]{1,200}$/
/** Visible characters, spaces, tabs and Latin-1, as HTTP has them. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/**
 * What is wrong with the header fields an agent gives for a seller; null when nothing is.
 *
 * @example findToolHeaderFault({ 'x-key': 'a\r\nb' }) → 'headers.x-key: …'
 */
export function findToolHeaderFault(headers: Readonly<Record<string, string>>): string | null {
  for (const [name, value] of Object.entries(headers)) {
    if (!NAME.test(name)) return `headers: ${JSON.stringify(name)} is no name of a header field.`
    if (NOT_THE_CALLERS.has(name.toLowerCase()))
      return `headers.${name}: the relay sets this itself; leave it out.`
    if (!VALUE.test(value))
      return `headers.${name}: expected one line of text without control characters.`
  }
  return null
}
