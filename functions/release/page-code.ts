import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

type AstroHandler = (
  req: IncomingMessage,
  res: ServerResponse,
  next: (error?: unknown) => void,
  locals: App.Locals,
) => unknown

export interface PageCode {
  /** Named by its content: the same code in another release has the same name. */
  name: string
  /** Of the release that has it. */
  folder: string
  /** Paths from there and their SHA-256; `entry.mjs` is among them. */
  files: readonly (readonly [path: string, sha256: string])[]
}

/**
 * Imports page code once for each name. A process never frees a module, so releases that differ
 * only in content must share theirs. The next request retries a failure.
 */
export function createPageCodeLoader(): (code: PageCode) => Promise<AstroHandler> {
  const loaded = new Map<string, Promise<AstroHandler>>()
  return function load(code) {
    const known = loaded.get(code.name)
    if (known !== undefined) return known
    const importing = importVerified(code)
    loaded.set(code.name, importing)
    importing.catch(() => loaded.delete(code.name))
    return importing
  }
}

/**
 * Reads everything at once, as the release may be gone later.
 * @throws before any of it is run
 */
async function importVerified({ folder, files }: PageCode): Promise<AstroHandler> {
  for (const [path, sha256] of files)
    if (hash('sha256', await readFile(join(folder, path))) !== sha256)
      throw new Error(`${path} differs from what was published: build again`)
  const modules: [string, unknown][] = await Promise.all(
    files.map(async ([path]) => [path, await import(pathToFileURL(join(folder, path)).href)]),
  )
  const entry = modules.find(([name]) => name.endsWith('/entry.mjs'))?.[1]
  const handler: unknown =
    typeof entry === 'object' && entry !== null ? Reflect.get(entry, 'handler') : undefined
  if (!isHandler(handler)) throw new Error('the release has no page handler')
  return handler
}

function isHandler(value: unknown): value is AstroHandler {
  return typeof value === 'function'
}
