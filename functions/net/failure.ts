import type { ProbeFailure } from '../../src/domain/probe/finding.ts'
import { codeOf } from '../../src/domain/wire/operator-error.ts'
import { AddressRefusedError, OwnAddressError } from './guard.ts'

/** Error codes of Node, its resolver and undici, and what each means for the seller or for us. */
const BY_CODE: Record<string, ProbeFailure> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  ETIMEDOUT: 'timeout',
  CONNECT_TIMEOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  EHOSTUNREACH: 'timeout',
  ENETUNREACH: 'own_network',
  ENETDOWN: 'own_network',
  EADDRNOTAVAIL: 'own_network',
  EMFILE: 'own_network',
  ENFILE: 'own_network',
  ENOBUFS: 'own_network',
  EACCES: 'own_network',
  EPERM: 'own_network',
  UND_ERR_HEADERS_OVERFLOW: 'not_http',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'not_http',
}

/** Codes that mean a name server answered. Any other code means that none did. */
const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA'])

const OF_TLS =
  /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH)/

/** @returns why a request had no answer, with its error code. */
export function toFailure(error: unknown): { failure: ProbeFailure; detail: string } {
  const first = firstOf(error)
  if (first instanceof AddressRefusedError)
    return { failure: 'address_refused', detail: first.reason }
  if (first instanceof OwnAddressError)
    return { failure: 'address_refused', detail: 'it is this service itself' }
  const code = codeOf(first)
  if (isOfResolver(first))
    return { failure: NO_SUCH_NAME.has(code) ? 'no_such_host' : 'dns', detail: code }
  if (/^(?:TimeoutError|AbortError)$/.test(nameOf(first))) return { failure: 'timeout', detail: '' }
  const known = BY_CODE[code]
  if (known !== undefined) return { failure: known, detail: code }
  if (/^HPE_/.test(code) || nameOf(first) === 'HTTPParserError')
    return { failure: 'not_http', detail: code }
  if (OF_TLS.test(code)) return { failure: 'tls', detail: code }
  // Nobody knows whose fault it was, so it is not the seller's.
  return { failure: 'own_network', detail: code || 'an error without a code' }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : ''
}

/** Several addresses were tried: the first error represents them. */
function firstOf(error: unknown): unknown {
  if (error instanceof AggregateError) return firstOf(error.errors[0] ?? new Error('no address'))
  const isWrapped = error instanceof Error && !('code' in error) && error.cause instanceof Error
  return isWrapped ? error.cause : error
}

/** A name server that refuses us is not a seller that refuses a connection. */
function isOfResolver(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('syscall' in error && /^(?:query|getaddrinfo)/.test(String(error.syscall))) return true
  return /^(?:ENOTFOUND|ENODATA|EAI_|ESERVFAIL|EREFUSED|ENONAME)/.test(codeOf(error))
}
