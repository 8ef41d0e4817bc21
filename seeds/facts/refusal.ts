import {
  findUrlFault,
  isIpHost,
  isPlaceholderHost,
  isTunnelHost,
} from '../../src/domain/listing/target-url.ts'
import { judgeAddress } from '../../src/domain/relay/address-verdict.ts'
import { toTemplate } from '../../src/domain/sources/x402-manifest.ts'

/**
 * Why something a source published is not imported. Closed list: a refusal is counted under one of
 * these and printed with its name, so that nothing is lost silently.
 */
export const REFUSAL_REASONS = {
  unreadable_row: 'not a JSON object',
  row_too_large: 'longer than a row may be',
  invalid_row: 'not of the published shape',
  duplicate_name: 'another row of the same name is newer, or came first',
  not_latest: 'not the latest version',
  deleted: 'deleted at the source',
  inactive: 'not offered any more, as its source says',
  source_terms: 'published only under terms that do not let its text be carried over',
  no_name: 'no readable name',
  no_description: 'no description',
  no_licence: 'no licence that says what others may do with it',
  misleading_text: 'text that forges letters',
  instruction_like_text: 'text that gives orders to an agent',
  no_url: 'no web page, repository or package page to point at',
  no_invoke: 'no remote and no package',
  template_url: 'an address with places to fill in',
  private_url: 'an address only its owner can reach',
  invalid_url: 'not a public https address',
  tunnel_host: 'a tunnel that lasts as long as somebody’s terminal',
  placeholder_host: 'a placeholder of documentation',
  unknown_transport: 'a transport that is not MCP’s',
  unknown_registry: 'a package registry that is not MCP’s',
  invalid_identifier: 'not a name in its package registry',
  unsupported_network: 'no network of the forms eip155:<id> or solana:<reference>',
  test_network: 'test networks only',
  ceiling_price: 'a ceiling or a deferred amount, not what one call costs',
  price_too_high: 'more than any call costs: a mistake in decimals, or a decoy',
  malformed_amount: 'not a whole number of atomic units',
  unknown_asset: 'a coin that is not known to be worth a dollar',
  known_fake: 'made up, and known to be',
  unreadable_seller: 'a seller that could not be read',
  nothing_found: 'nothing that a seller describes itself with',
  not_listed: 'not listed here',
  same_endpoints: 'everything it offers is listed under another name',
  opted_out: 'its owner asked not to be listed',
  invalid_listing: 'not a valid listing after mapping',
} as const

export type RefusalReason = keyof typeof REFUSAL_REASONS

export interface Fault {
  reason: RefusalReason
  /** What was wrong, where, and what would be right. Foreign text, print it through `toPrintable`. */
  detail: string
}

export function faultOf(reason: RefusalReason, detail: string): Fault {
  return { reason, detail }
}

export interface Refusal extends Fault {
  /** Its key in the source; foreign text too. */
  name: string
  /** How many rows of the source it covers; one by default. */
  rows?: number
}

export interface HostRules {
  /** For trials with fictional sellers, whose hosts end in `.example`. */
  allowPlaceholders: boolean
}

/**
 * Stricter than the content's own rule, since nobody reviews a seeded row: also refuses templates
 * in paths, tunnels and documentation's placeholders.
 *
 * @returns null for an address a stranger can call as it is.
 */
export function findCallableUrlFault(text: string, { allowPlaceholders }: HostRules): Fault | null {
  const url = URL.parse(text)
  const host = url?.hostname.replace(/\.$/, '') ?? ''
  const shown = JSON.stringify(text.slice(0, 200))
  if (/[{}<>]|%7b|%7d|\$[A-Z_]+/i.test(text) || PATH_PARAMETER.test(url?.pathname ?? ''))
    return faultOf('template_url', `expected a URL without places to fill in, got ${shown}`)
  const fault = findUrlFault(text, { allowPrivate: false })
  if (fault !== null)
    return faultOf(isPrivate(host) ? 'private_url' : 'invalid_url', `${shown}: ${fault}`)
  if (isTunnelHost(host))
    return faultOf('tunnel_host', `expected a lasting host, got the tunnel ${host}`)
  return !allowPlaceholders && isPlaceholderHost(host)
    ? faultOf('placeholder_host', `expected a real host, got ${host}`)
    : null
}

const PATH_PARAMETER = /\/(?::[A-Za-z_]|\[[A-Za-z_])/

function isPrivate(host: string): boolean {
  if (isIpHost(host))
    return !judgeAddress(host.replace(/^\[|\]$/g, ''), { allowPrivate: false }).allowed
  return /^(?:localhost|[^.]+)$|\.(?:local|localhost|internal|intranet|lan|home\.arpa)$/.test(host)
}

/** Why nobody could call an address, whatever stands in the places of its path; null where one could. */
export function findOperationAddressFault(text: string, rules: HostRules) {
  const { path: url } = toTemplate(text)
  const [, start = '', path = '', rest = ''] =
    /^([a-z]+:\/\/[^/?#]*)([^?#]*)(.*)$/is.exec(url) ?? []
  return findCallableUrlFault(start + path.replace(/\{\w+\}/g, 'x') + rest, rules)
}

export function leftOut(name: string, left: number): Refusal[] {
  const detail = `${left} operations beyond those listed`
  return left === 0 ? [] : [{ reason: 'row_too_large', name, detail }]
}
