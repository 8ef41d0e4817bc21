/** RFC 5321 §4.5.3.1: octets of the local part, of the whole address, and of a DNS label. */
const MAX_LOCAL = 64
const MAX_ADDRESS = 254
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Dot-atom less `%` and `!` (old ways to route through another host) and `?`, `` ` ``, `|`, `$`,
 * `*`, `{`, `}`, `^`, `#`, which no real mailbox needs and encoded words contain.
 */
const LOCAL = /^[a-z0-9_+'=&/~-]+(?:\.[a-z0-9_+'=&/~-]+)*$/

/**
 * One plain ASCII address in lower case, or null. Anything cleverer (comments, quotes, lists, IP
 * literals, IDN look-alikes) is refused: two parsers that read an address differently can send a
 * link to a stranger (CVE-2022-35924).
 *
 * @example parseEmailAddress('Ann@Shop.example') → 'ann@shop.example'
 */
export function parseEmailAddress(text: string): string | null {
  // Checked before lower-casing: the Kelvin sign and its like would become ASCII letters.
  if (text.length > MAX_ADDRESS || !/^[\x21-\x7e]+$/.test(text)) return null
  const lower = text.toLowerCase()
  const parts = lower.split('@')
  const [local = '', domain = ''] = parts
  if (parts.length !== 2 || local.length > MAX_LOCAL || !LOCAL.test(local)) return null
  const labels = domain.split('.')
  const top = labels.at(-1) ?? ''
  if (labels.length < 2 || !labels.every((label) => LABEL.test(label))) return null
  return /^\d+$/.test(top) ? null : lower
}

/**
 * The mailbox an address in lower case leads to: what follows a plus is its owner's own tag, and Gmail
 * ignores dots (https://support.google.com/mail/answer/7436150).
 *
 * @example mailboxOf('ann+shop@mail.example') → 'ann@mail.example'
 * @example mailboxOf('a.nn@googlemail.com') → 'ann@gmail.com'
 */
export function mailboxOf(address: string): string {
  const [local = '', domain = ''] = address.split('@')
  const name = local.replace(/(?<=.)\+.*/, '')
  return GMAIL.has(domain) ? `${name.replaceAll('.', '')}@gmail.com` : `${name}@${domain}`
}

const GMAIL = new Set(['gmail.com', 'googlemail.com'])
