import {
  type IpRange,
  isInRange,
  isPrivateTarget,
  type PrivateTargets,
  parseIpAddress,
  parseIpRange,
} from '../listing/target-url.ts'

/**
 * Whether the service may open a connection to an address: not to IANA's special-purpose blocks (RFC
 * 6890 and its updates), and not to the addresses at which clouds answer their own machines.
 *
 * Known limit: a network's own NAT64 prefix (RFC 6052) looks like any other unicast block; only the
 * well-known and the local-use prefix are recognised.
 */
type AddressVerdict = { allowed: true } | { allowed: false; reason: AddressReason; range: string }

/** One row per block; the first block that contains the address is the reason for a refusal. */
const BLOCKS = [
  ['0.0.0.0/8', 'unspecified'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'shared_address_space'],
  ['127.0.0.0/8', 'loopback'],
  // Azure's wire server: a globally routed address that Azure answers inside its own network.
  ['168.63.129.16/32', 'cloud_metadata'],
  ['169.254.0.0/16', 'link_local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'protocol_assignment'],
  ['192.0.2.0/24', 'documentation'],
  ['192.31.196.0/24', 'anycast_service'],
  ['192.52.193.0/24', 'anycast_service'],
  ['192.88.99.0/24', 'six_to_four'],
  ['192.168.0.0/16', 'private'],
  ['192.175.48.0/24', 'anycast_service'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['255.255.255.255/32', 'broadcast'],
  ['240.0.0.0/4', 'reserved'],
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['::ffff:0:0/96', 'ipv4_mapped'],
  ['::ffff:0:0:0/96', 'ipv4_translated'],
  // `[::127.0.0.1]` in a URL becomes ::7f00:1, which common libraries take for unicast.
  ['::/96', 'ipv4_compatible'],
  ['64:ff9b::/96', 'nat64'],
  ['64:ff9b:1::/48', 'nat64'],
  ['100::/64', 'discard'],
  ['100:0:0:1::/64', 'dummy_prefix'],
  ['2001::/32', 'teredo'],
  ['2001:2::/48', 'benchmarking'],
  ['2001:10::/28', 'orchid'],
  ['2001:20::/28', 'orchid'],
  ['2001:db8::/32', 'documentation'],
  ['2001::/23', 'protocol_assignment'],
  ['2002::/16', 'six_to_four'],
  ['2620:4f:8000::/48', 'anycast_service'],
  // The experimental 6bone prefix, returned to IANA (RFC 3701).
  ['3ffe::/16', 'reserved'],
  ['3fff::/20', 'documentation'],
  ['5f00::/16', 'segment_routing'],
  ['fc00::/7', 'unique_local'],
  ['fe80::/10', 'link_local'],
  ['fec0::/10', 'site_local'],
  ['ff00::/8', 'multicast'],
] as const satisfies readonly (readonly [string, string])[]

export type AddressReason = (typeof BLOCKS)[number][1] | 'not_global_unicast' | 'not_an_address'

const RANGES = BLOCKS.map(([block, reason]) => ({ block, reason, range: parseIpRange(block) }))

/** Every other IPv6 address is unassigned, so new registry rows are refused until reviewed. */
const GLOBAL_UNICAST: IpRange = parseIpRange('2000::/3')

/** Reasons for a refusal that a setting can lift; cloud metadata, link-local and all others stay refused. */
const PRIVATE_REASONS: ReadonlySet<string> = new Set(['loopback', 'private', 'unique_local'])

/**
 * @param rules `hostname` is the name that resolved to the address
 * @param text one canonical IPv4 or IPv6 address; anything else is refused as `not_an_address`
 * @example judgeAddress('169.254.169.254', { allowPrivate: false }) → { allowed: false, reason:
 *   'link_local', range: '169.254.0.0/16' }
 */
export function judgeAddress(
  text: string,
  rules: { allowPrivate: PrivateTargets; hostname?: string },
): AddressVerdict {
  const verdict = judge(text)
  if (verdict.allowed || !PRIVATE_REASONS.has(verdict.reason)) return verdict
  const isLetIn = [text, rules.hostname ?? text].some((each) =>
    isPrivateTarget(rules.allowPrivate, each),
  )
  return isLetIn ? ALLOWED : verdict
}

const ALLOWED: AddressVerdict = { allowed: true }

function judge(text: string): AddressVerdict {
  const address = parseIpAddress(text)
  if (address === null) return { allowed: false, reason: 'not_an_address', range: '' }
  const hit = RANGES.find(({ range }) => isInRange(address, range))
  if (hit !== undefined) return { allowed: false, reason: hit.reason, range: hit.block }
  if (address.family === 6 && !isInRange(address, GLOBAL_UNICAST))
    return { allowed: false, reason: 'not_global_unicast', range: 'outside 2000::/3' }
  return ALLOWED
}
