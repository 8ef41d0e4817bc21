import { DOORS } from '../../src/domain/wire/door-table.ts'
import { ROUTES } from '../../src/domain/wire/route-table.ts'

const FIXED = new Map<string, string>()
const PATTERNS: [RegExp, string][] = []
for (const [id, { path }] of [...Object.entries(ROUTES), ...Object.entries(DOORS)]) {
  if (!path.includes(':')) FIXED.set(path, id)
  else PATTERNS.push([toPattern(path), id])
}

/** Whatever has no row in the tables: pages, files, and what does not exist. */
const REST = 'page'

/**
 * The name a request is counted under: the id of its row in the route or door table, so that there
 * are as many names as rows, whatever is asked for.
 *
 * @example toRouteLabel('/api/v1/listings/x402.foo') → 'listing'
 */
export function toRouteLabel(path: string): string {
  return FIXED.get(path) ?? PATTERNS.find(([pattern]) => pattern.test(path))?.[1] ?? REST
}

function toPattern(path: string): RegExp {
  const rest = path === ROUTES.call.path ? '(?:/.*)?' : ''
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}${rest}$`)
}
