import { isIPv4, isIPv6 } from 'node:net'
import * as v from 'valibot'

/** Resolvers to ask instead of the system's. */
export const dnsServers = commaList(
  isServerAddress,
  'expected a comma list of ip or ip:port, such as 1.1.1.1:53,[2606:4700:4700::1111]:53',
)

/** Host names, `*.name` and blocks of addresses; a block that covers everything is a mistake. */
export const privateHosts = commaList(
  isPrivatePattern,
  'expected a comma list of hosts and ranges, such as *.corp.example,wiki.corp.example,10.0.0.0/8',
)

function commaList(isPart: (part: string) => boolean, message: string) {
  const split = v.transform((text: string) =>
    text
      .toLowerCase()
      .split(',')
      .map((part) => part.trim()),
  )
  return v.optional(
    v.pipe(
      v.string(),
      split,
      v.check((parts) => parts.every(isPart), message),
    ),
  )
}

function isPrivatePattern(text: string): boolean {
  const [address = '', bits] = text.split('/')
  const family = isIPv4(address) ? 32 : isIPv6(address) ? 128 : 0
  if (bits !== undefined)
    return family > 0 && /^\d{1,3}$/.test(bits) && Number(bits) >= 8 && Number(bits) <= family
  return family > 0 || /^(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*$/.test(text)
}

function isServerAddress(text: string): boolean {
  const bracketed = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(text)
  if (bracketed) return isIPv6(bracketed[1] ?? '') && Number(bracketed[2] ?? 53) <= 65_535
  if (isIPv6(text)) return true
  const [ip = '', port = '53', ...rest] = text.split(':')
  return rest.length === 0 && isIPv4(ip) && /^\d{1,5}$/.test(port) && Number(port) <= 65_535
}
