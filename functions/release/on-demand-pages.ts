import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PAGE_HEADERS } from '../../src/domain/wire/site-headers.ts'
import type { Log } from '../ports/log.ts'

/** What a page rendered on demand may ask of the functions. */
export interface PageLocals {
  /** The body of `GET /api/v1/search` for a raw query string, parsed. */
  search(rawQuery: string): unknown
}

type AstroHandler = (
  req: IncomingMessage,
  res: ServerResponse,
  next: (error?: unknown) => void,
  locals: PageLocals,
) => unknown

/** Only these are rendered for each request; every other page is a file. */
const ON_DEMAND = new Set(['/search', '/sellers/dashboard'])

/**
 * Astro's handler of the release being served. It is loaded when first needed, and again for a new
 * release: a module of another folder is another module.
 */
export function createOnDemandPages({
  dir,
  locals,
  log,
}: {
  dir: () => string
  locals: PageLocals
  log: Log
}) {
  let loaded: { dir: string; handler: Promise<AstroHandler> } | undefined
  const load = () => {
    if (loaded?.dir !== dir()) loaded = { dir: dir(), handler: importHandler(dir()) }
    return loaded.handler
  }
  return function serve(
    req: IncomingMessage,
    res: ServerResponse,
    path: string,
    next: () => void,
  ): boolean {
    if (!ON_DEMAND.has(path) || (req.method !== 'GET' && req.method !== 'HEAD')) return false
    load().then(
      (handler) => {
        for (const [name, value] of Object.entries(PAGE_HEADERS)) res.setHeader(name, value)
        handler(req, res, () => next(), locals)
      },
      (error: unknown) => {
        log.error('pages.unavailable', {
          reason: error instanceof Error ? error.message : 'unreadable',
        })
        next()
      },
    )
    return true
  }
}

async function importHandler(dir: string): Promise<AstroHandler> {
  const entry: unknown = await import(pathToFileURL(join(dir, 'server', 'entry.mjs')).href)
  const handler: unknown =
    typeof entry === 'object' && entry !== null ? Reflect.get(entry, 'handler') : undefined
  if (!isHandler(handler)) throw new Error('the release has no page handler')
  return handler
}

function isHandler(value: unknown): value is AstroHandler {
  return typeof value === 'function'
}
