import { ROUTES } from '../../src/domain/wire/route-table.ts'

/** For platforms and balancers; no part of the interface, so not in the route table. */
const HEALTH = ['/healthz', '/readyz'].map((path) => ({ path, methods: ['GET'] as const }))

const PATTERNS = [...Object.values(ROUTES), ...HEALTH].map(({ path, methods }) => ({
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`),
  methods,
}))

/**
 * Methods that some route takes at this path, or none when no route has it. HEAD goes wherever GET
 * does, except to the relay, where a seller may take it for an unpaid GET.
 */
export function findAllowedMethods(path: string): string[] {
  const matching = PATTERNS.filter(({ pattern }) => pattern.test(path))
  const methods = new Set<string>(matching.flatMap((route) => route.methods))
  if (methods.has('GET') && !path.startsWith('/api/v1/call/')) methods.add('HEAD')
  if (methods.size > 0) methods.add('OPTIONS')
  return [...methods]
}
