import { findTextFault } from './listing-text.ts'

/**
 * A host as people write it, label by label; one with letters of two scripts in a word stays as it
 * is written for machines, since a name that looks like another is how a host is forged.
 *
 * @example toShownHost('xn--gre-6ka8i.example.org') → 'größe.example.org'
 */
export function toShownHost(host: string): string {
  if (!host.includes('xn--') || findHostForgery(host) !== null) return host
  return toUnicodeHost(host)
}

/** What makes a host look like another one's; null for every ordinary host. */
export function findHostForgery(host: string): string | null {
  return host.includes('xn--') ? findTextFault(toUnicodeHost(host)) : null
}

function toUnicodeHost(host: string): string {
  const shown = host.replace(/(?<![^.])xn--([a-z0-9-]+)/gi, (label, coded: string) => {
    return decodeLabel(coded.toLowerCase()) ?? label
  })
  // What a client would not read back as the same host is nobody's spelling of it.
  return URL.parse(`https://${shown}`)?.host === host ? shown : host
}

/** Punycode, RFC 3492. @returns null for anything else */
function decodeLabel(coded: string): string | null {
  const dash = coded.lastIndexOf('-')
  const letters = [...coded.slice(0, Math.max(0, dash))]
  const digits = [...coded.slice(dash + 1)]
  let [code, at, bias, isFirst] = [128, 0, 72, true]
  while (digits.length > 0) {
    const before = at
    let weight = 1
    for (let k = 36; ; k += 36) {
      const digit = DIGITS.indexOf(digits.shift() ?? '!')
      if (digit < 0 || at > MOST) return null
      at += digit * weight
      const threshold = Math.min(26, Math.max(1, k - bias))
      if (digit < threshold) break
      weight *= 36 - threshold
    }
    const length = letters.length + 1
    bias = toBias(at - before, length, isFirst)
    isFirst = false
    code += Math.floor(at / length)
    if (code > 0x10ffff) return null
    at %= length
    letters.splice(at, 0, String.fromCodePoint(code))
    at += 1
  }
  return letters.join('')
}

const DIGITS = 'abcdefghijklmnopqrstuvwxyz0123456789'
const MOST = 2 ** 31

function toBias(delta: number, length: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? 700 : 2))
  rest += Math.floor(rest / length)
  let k = 0
  for (; rest > 455; k += 36) rest = Math.floor(rest / 35)
  return k + Math.floor((36 * rest) / (rest + 38))
}
