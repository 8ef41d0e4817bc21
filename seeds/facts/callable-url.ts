import {
  findUrlFault,
  isIpHost,
  isPlaceholderHost,
  isTunnelHost,
} from '../../src/domain/listing/target-url.ts'
import { judgeAddress } from '../../src/domain/relay/address-verdict.ts'
import type { Fault } from './refusal.ts'

export interface HostRules {
  /** For trials with fictional sellers, whose hosts end in `.example`. */
  allowPlaceholders: boolean
}

/**
 * Stricter than the content's own rule, since nobody reviews a seeded row: also refuses templates
 * in paths, tunnels and documentation's placeholders.
 *
 * @returns null for an address a stranger can call as it stands.
 */
export function findCallableUrlFault(text: string, { allowPlaceholders }: HostRules): Fault | null {
  const url = URL.parse(text)
  const shown = JSON.stringify(text.slice(0, 200))
  if (/[{}<>]|%7b|%7d|\$[A-Z_]+/i.test(text) || hasPathParameter(url))
    return {
      reason: 'template_url',
      detail: `expected a URL without places to fill in, got ${shown}`,
    }
  const fault = findUrlFault(text, { allowPrivate: false })
  if (fault !== null)
    return { reason: isPrivate(url) ? 'private_url' : 'invalid_url', detail: `${shown}: ${fault}` }
  const host = url?.hostname.replace(/\.$/, '') ?? ''
  if (isTunnelHost(host))
    return { reason: 'tunnel_host', detail: `expected a lasting host, got the tunnel ${host}` }
  if (!allowPlaceholders && isPlaceholderHost(host))
    return { reason: 'placeholder_host', detail: `expected a real host, got ${host}` }
  return null
}

function hasPathParameter(url: URL | null): boolean {
  return url !== null && /\/(?::[A-Za-z_]|\[[A-Za-z_])/.test(url.pathname)
}

function isPrivate(url: URL | null): boolean {
  const host = url?.hostname.replace(/\.$/, '') ?? ''
  if (isIpHost(host))
    return !judgeAddress(host.replace(/^\[|\]$/g, ''), { allowPrivate: false }).allowed
  return /^(?:localhost|[^.]+)$|\.(?:local|localhost|internal|intranet|lan|home\.arpa)$/.test(host)
}
