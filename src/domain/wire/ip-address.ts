/**
 * Addresses as numbers. Written out rather than taken from a package: the packages looked at call
 * `::7f00:1` or `100:0:0:1::1` ordinary unicast, and one shared block list for both families lets
 * `::ffff:0:0/96` swallow every IPv4 address.
 */
export interface IpAddress {
  family: 4 | 6
  /** 32 or 128 bits. */
  value: bigint
}

/** An address block: every address whose first `bits` bits are those of `first`. */
export type IpRange = ReturnType<typeof parseIpRange>

const WIDTH = { 4: 32, 6: 128 } as const

/**
 * Four decimal numbers without leading zeros, or RFC 4291 groups; no zone, brackets, octal or
 * hexadecimal IPv4. Null for anything else.
 * @example parseIpAddress('127.0.0.1') → { family: 4, value: 0x7f000001n }
 */
export function parseIpAddress(text: string): IpAddress | null {
  const value = text.includes(':') ? parseIpv6(text) : parseIpv4(text)
  if (value === null) return null
  return { family: text.includes(':') ? 6 : 4, value }
}

/** @example parseIpRange('10.0.0.0/8') ; throws on a malformed block, since we write the blocks. */
export function parseIpRange(text: string) {
  const [head = '', bits = ''] = text.split('/')
  const address = parseIpAddress(head)
  if (address === null || !/^\d{1,3}$/.test(bits) || Number(bits) > WIDTH[address.family])
    throw new Error(`${text}: expected an address block such as 10.0.0.0/8`)
  return { family: address.family, first: address.value, bits: Number(bits) }
}

export function isInRange(address: IpAddress, range: IpRange): boolean {
  if (address.family !== range.family) return false
  const rest = BigInt(WIDTH[range.family] - range.bits)
  return address.value >> rest === range.first >> rest
}

function parseIpv4(text: string): bigint | null {
  const parts = text.split('.')
  if (parts.length !== 4) return null
  let value = 0n
  for (const part of parts) {
    if (!/^(?:0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return null
    value = (value << 8n) | BigInt(part)
  }
  return value
}

/** The URL parser knows the grammar and has one output form; it gets nothing else. */
function parseIpv6(text: string): bigint | null {
  const host = /^[0-9a-f:.]+$/i.test(text) ? URL.parse(`http://[${text}]/`)?.hostname : undefined
  if (host === undefined) return null
  const [head = [], tail = []] = host
    .slice(1, -1)
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''))
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...zeros, ...tail].reduce(
    (sum, group) => (sum << 16n) | BigInt(`0x${group}`),
    0n,
  )
}
