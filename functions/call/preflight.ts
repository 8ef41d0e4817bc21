import type { IncomingMessage } from 'node:http'
import { EXPOSED_HEADERS } from '../../src/domain/relay/relayed-headers.ts'
import { ALLOW } from './call-plan.ts'

const DEFAULT_HEADERS =
  'Content-Type, Authorization, X-PAYMENT, PAYMENT-SIGNATURE, Accept-Payment, Access-Control-Expose-Headers'

/** A browser asks once an hour, not before every purchase. */
const MAX_AGE_SECONDS = 3600

/**
 * Any origin may call, with any header it asks for: `*` never covers `Authorization`, and the real
 * clients send `Access-Control-Expose-Headers` as a request header.
 */
export function answerPreflight(req: IncomingMessage): Response {
  const asked = req.headers['access-control-request-headers']
  const isList = asked !== undefined && /^[\w!#$%&'*+.^`|~, \t-]{1,4096}$/.test(asked)
  return new Response(null, {
    status: 204,
    headers: {
      Allow: ALLOW,
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': ALLOW,
      'Access-Control-Allow-Headers': isList ? asked : DEFAULT_HEADERS,
      'Access-Control-Expose-Headers': EXPOSED_HEADERS.join(', '),
      'Access-Control-Max-Age': String(MAX_AGE_SECONDS),
      Vary: 'Access-Control-Request-Headers',
    },
  })
}
