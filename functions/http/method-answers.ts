import { SECURITY_PATH } from '../../src/domain/wire/links.ts'
import { ROUTES } from '../../src/domain/wire/route-table.ts'
import type { MakeProblem } from './problem.ts'

export function refuseMethod(
  method: string,
  allowed: readonly string[],
  problem: MakeProblem,
): Response {
  return problem('method-not-allowed', {
    detail: `${method} is not allowed here; use ${allowed.join(', ')}.`,
    headers: { Allow: allowed.join(', ') },
  })
}

/** Public reads allow any origin; seller routes get no CORS at all, so a browser refuses for us. */
export function answerPreflight(path: string, allowed: readonly string[]): Response {
  const methods = allowed.join(', ')
  const cors = {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': methods,
    'Access-Control-Allow-Headers': '*',
    'Access-Control-Max-Age': '86400',
  }
  return new Response(null, {
    status: 204,
    headers: { Allow: methods, ...(!isSellerPath(path) && cors) },
  })
}

/** Seller routes carry a session, so no other origin may read their answers. */
export function isSellerPath(path: string): boolean {
  return path.startsWith('/api/v1/sellers')
}

/** For platforms, balancers and finders of faults; not part of the interface, so not in the route table. */
const OTHER_READS = ['/healthz', '/readyz', SECURITY_PATH].map((path) => ({
  path,
  methods: ['GET'] as const,
}))

const PATTERNS = [...Object.values(ROUTES), ...OTHER_READS].map(({ path, methods }) => ({
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`),
  methods,
}))

/**
 * Methods that routes accept at this path; empty when no route has it. HEAD is accepted wherever
 * GET is, except to the relay, where a seller may take it for an unpaid GET.
 */
export function findAllowedMethods(path: string): string[] {
  const matching = PATTERNS.filter(({ pattern }) => pattern.test(path))
  const methods = new Set<string>(matching.flatMap((route) => route.methods))
  if (methods.has('GET') && !path.startsWith('/api/v1/call/')) methods.add('HEAD')
  if (methods.size > 0) methods.add('OPTIONS')
  return [...methods]
}
