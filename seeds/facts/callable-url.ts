import {
  findUrlFault,
  isIpHost,
  isPlaceholderHost,
  isTunnelHost,
} from '../../src/domain/listing/target-url.ts'
import { judgeAddress } from '../../src/domain/relay/address-verdict.ts'
import { type Fault, faultOf } from './refusal.ts'

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
