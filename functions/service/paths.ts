import { CALL_PREFIX, METRICS_PATH } from '../../src/domain/wire/links.ts'
import { PROTOCOL_ENDPOINTS, ROUTES } from '../../src/domain/wire/routes.ts'
import type { Feature, Handler, RawPath } from '../features/feature.ts'
import type { Page } from '../release/on-demand-pages.ts'

/** What answers at an address, and what is to be known of it before it does. */
export interface Row {
  /** The name that metrics count it under: its id in the domain's tables. */
  label?: string
  methods: readonly string[]
  /** Absent for a file, and for what only has a page or a raw path. */
  answer?: Handler
  raw?: RawPath
  page?: Page
  /** Answers wrong methods and every error itself, in the terms of another protocol. */
  isProtocol?: boolean
  /** It may hold what only its reader may know, or the words of a seller. */
  isSecret?: boolean
  /** Answered without a token where the directory is closed. */
  isOpen?: boolean
}

/** A row with the pattern of its path. */
interface Placed extends Row {
  pattern: RegExp
  names: readonly string[]
}

export type PathTable = ReturnType<typeof createPathTable>

/** What the service itself answers. */
interface OwnAnswers {
  /** For platforms and balancers: read by GET, in no table of the interface. */
  reads: Readonly<Record<string, Handler>>
  /** For routes that are planned. */
  stub: Handler
}

/**
 * Every address of the service that is not a file, once: fixed ones in a map, then patterns by their
 * first segment. Routes and protocols are the domain's, pages and raw paths the features'.
 */
export function createPathTable(features: readonly Feature[], own: OwnAnswers) {
  const fixed = new Map<string, Placed[]>()
  const patterns = new Map<string, Placed[]>()
  for (const { path, ...row } of toRows(features, own)) {
    const isFixed = !path.includes('/:') && !path.endsWith('/')
    const [rows, key] = isFixed ? [fixed, path] : [patterns, segmentOf(path)]
    rows.set(key, [...(rows.get(key) ?? []), { ...row, ...toPattern(path) }])
  }
  const find = (path: string): readonly Row[] =>
    fixed.get(path) ??
    (patterns.get(segmentOf(path)) ?? []).filter(({ pattern }) => pattern.test(path))
  return {
    find,
    /** Pages, files and what does not exist have one name. */
    labelOf: (path: string) => find(path).find(({ label }) => label !== undefined)?.label ?? 'page',
    /** What the address says in the places of the row's pattern, as written. */
    paramsOf(row: Row, path: string): Record<string, string> {
      const { pattern, names = [] }: Partial<Placed> = row
      const parts = pattern?.exec(path) ?? []
      return Object.fromEntries(names.map((name, at) => [name, parts[at + 1] ?? '']))
    },
    /**
     * Methods that routes accept at this path; empty when no route has it. HEAD is accepted wherever
     * GET is, except to the relay, where a seller may take it for an unpaid GET.
     */
    methodsOf(path: string): string[] {
      const routes = find(path).filter((row) => row.isProtocol !== true && row.page === undefined)
      const methods = new Set(routes.flatMap((row) => row.methods))
      if (methods.has('GET') && !path.startsWith(CALL_PREFIX)) methods.add('HEAD')
      if (methods.size > 0) methods.add('OPTIONS')
      return [...methods]
    },
  }
}

type PathRow = Row & { path: string }

function toRows(features: readonly Feature[], { reads, stub }: OwnAnswers): PathRow[] {
  const answers = new Map(features.flatMap(({ routes = {} }) => Object.entries(routes)))
  const raw = new Map(features.flatMap(({ paths = [] }) => paths.map((each) => [each.path, each])))
  const ofId = (id: string, planned?: Handler): Pick<Row, 'answer'> => {
    const answer = answers.get(id) ?? planned
    return answer === undefined ? {} : { answer }
  }
  const rows = [
    ...Object.entries(ROUTES).map(([id, route]) => ({
      // The relay answers below its address as well.
      path: id === 'call' ? CALL_PREFIX : route.path,
      label: id,
      methods: route.methods,
      isOpen: 'isOpen' in route,
      ...ofId(id, route.answer === 'stub' ? stub : undefined),
    })),
    ...Object.entries(PROTOCOL_ENDPOINTS).map(([id, { path, methods }]) => ({
      ...{ path, methods, label: id, ...ofId(id) },
      isProtocol: answers.has(id),
      isSecret: id === 'mcp',
    })),
    ...Object.entries(reads).map(([path, answer]) => ({
      ...{ path, methods: ['GET'], answer },
      isOpen: path === '/healthz' || path === METRICS_PATH,
    })),
    ...features.flatMap(({ pages = {} }) =>
      Object.entries(pages).map(([path, page]) => ({ path, ...toPageRow(page) })),
    ),
  ]
  return rows.map((row) => {
    const own = raw.get(row.path)
    return own === undefined ? row : { ...row, raw: own }
  })
}

function toPageRow(page: Page): Row {
  return {
    page,
    methods: page.hasForm ? ['GET', 'POST'] : ['GET'],
    isSecret: page.isSecret === true,
    isOpen: page.isOpen === true,
  }
}

function segmentOf(path: string): string {
  const end = path.indexOf('/', 1)
  return end === -1 ? path : path.slice(0, end)
}

/** @example toPattern('/go/:listing_id') → { pattern: /^\/go\/([^/]+)$/, names: ['listing_id'] } */
function toPattern(path: string): Pick<Placed, 'pattern' | 'names'> {
  const source = path.replaceAll('.', '\\.').replace(/:\w+/g, '([^/]+)')
  const pattern = new RegExp(path.endsWith('/') ? `^${source}` : `^${source}$`)
  return { pattern, names: [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name) }
}
