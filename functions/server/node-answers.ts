import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { valuesOf } from '../../src/domain/relay/relayed-headers.ts'
import type { ProblemCode } from '../../src/domain/wire/problems.ts'
import type { MakeProblem } from '../http/answers.ts'
import { currentRequestId, type Log, type LogFields } from '../ports/log.ts'

/** How long a caller may go on sending an unwanted body before the connection is closed. */
const LINGER_MS = 1000

/**
 * Writes a small, complete Response to a Node response; used without an h3 event. Where the caller
 * is still sending, the whole answer goes out first and the rest is read for a moment: closing with
 * unread bytes would reset the connection, and the caller would see that instead of the answer.
 */
export async function sendResponse(
  req: IncomingMessage,
  res: ServerResponse,
  response: Response,
): Promise<void> {
  if (res.headersSent || res.destroyed) return
  const body = Buffer.from(await response.arrayBuffer())
  res.statusCode = response.status
  for (const [name, value] of response.headers) res.setHeader(name, value)
  if (response.status !== 204) res.setHeader('Content-Length', body.length)
  if (req.complete) {
    res.end(body)
    return
  }
  res.setHeader('Connection', 'close')
  res.write(body)
  req.on('error', () => {})
  req.resume()
  await Promise.race([
    new Promise((resolve) => req.once('end', resolve).once('close', resolve)),
    sleep(LINGER_MS, undefined, { ref: false }),
  ])
  res.end()
}

/** A browser asking for a page that does not exist gets one that says so. */
export function wantsPage(req: IncomingMessage, path: string): boolean {
  return (req.method === 'GET' || req.method === 'HEAD') && isRefusedByPage(req, path)
}

/** Whether a person reads the refusal, whatever the method; `/api/` is always JSON. */
export function isRefusedByPage({ headers }: IncomingMessage, path: string): boolean {
  if (/^\/(?:api\/|go\/|healthz$|readyz$)/.test(path)) return false
  const accept = headers.accept ?? ''
  return accept.includes('text/html') && !accept.startsWith('application/json')
}

/** Logs a failure of ours, and makes the 500 that only says where to find it in the log. */
export type ReportFailure = (event: string, error: unknown, fields?: LogFields) => Response

export function createFailureReport({
  log,
  problem,
}: {
  log: Log
  problem: MakeProblem
}): ReportFailure {
  return function report(event, error, fields = {}) {
    const id = currentRequestId() ?? randomUUID()
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
    log.error(event, { id, ...fields, reason })
    return problem('internal', {
      detail: `Quote this id when you report it: ${id}.`,
      extra: { id },
    })
  }
}

/** Bytes of a request target. */
const MAX_TARGET_LENGTH = 8192

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
