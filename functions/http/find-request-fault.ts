import type { IncomingMessage } from 'node:http'
import { valuesOf } from '../../src/domain/relay/relayed-headers.ts'
import type { ProblemCode } from '../../src/domain/wire/problems.ts'

/** Bytes of a request target. */
export const MAX_TARGET_LENGTH = 8192

export interface RequestFault {
  code: ProblemCode
  detail: string
}

/**
 * Requests that Node's parser accepts and nobody should: two `Host` lines (two parties would route
 * the request differently), a Host that is not a host, targets in absolute form for another host.
 *
 * @returns null for a plain request.
 */
export function findRequestFault({
  method,
  url = '',
  rawHeaders,
  httpVersion,
}: Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders' | 'httpVersion'>): RequestFault | null {
  if (url.length > MAX_TARGET_LENGTH)
    return {
      code: 'uri-too-long',
      detail: `The request target has ${url.length} characters; the limit is ${MAX_TARGET_LENGTH}.`,
    }
  const hosts = valuesOf(rawHeaders, 'host')
  const [host = ''] = hosts
  // Node decodes only chunks: content in another coding would be taken for the body itself.
  if (valuesOf(rawHeaders, 'transfer-encoding').some((coding) => !/^chunked$/i.test(coding.trim())))
    return malformed(
      'Transfer-Encoding may only be chunked; name other codings in Content-Encoding.',
    )
  if (hosts.length > 1) return malformed('The request has several Host headers; send one.')
  // Health checks of balancers still speak HTTP/1.0, which has no Host.
  if (hosts.length === 0 && httpVersion === '1.0' && url.startsWith('/')) return null
  if (!/^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/.test(host))
    return malformed('The Host header is not a host name with an optional port.')
  if (url.startsWith('/')) return null
  if (url === '*')
    return method === 'OPTIONS'
      ? null
      : malformed('The request target * is only for OPTIONS; send a path.')
  const target = URL.parse(url)
  return target !== null && target.host === host.toLowerCase()
    ? null
    : malformed('The request target names another host than the Host header.')
}

/** Path and query of a target, absolute form reduced to its path. */
export function splitTarget(url: string): { path: string; query: string } {
  const origin = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
  const target = origin === -1 ? '/' : url.slice(origin)
  const mark = target.indexOf('?')
  return mark === -1
    ? { path: target, query: '' }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) }
}

function malformed(detail: string): RequestFault {
  return { code: 'malformed-request', detail }
}
