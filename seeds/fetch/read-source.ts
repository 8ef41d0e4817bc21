import { readFile, stat } from 'node:fs/promises'
import type { Refusal } from '../facts/refusal.ts'
import type { SeedSource, SourcePage } from '../facts/seed-source.ts'
import { fetchText } from './fetch-text.ts'
import type { Progress } from './progress.ts'

const MAX_PAGES = 5000
/** One after the other without a row: such a source only says that there is more. */
const MAX_EMPTY_PAGES = 20
const MAX_ROWS = 300_000
const MAX_PAGE_BYTES = 32 * 1024 * 1024
const MAX_FILE_BYTES = 64 * 1024 * 1024
/**
 * All pages together, in UTF-16 units: parsed, a source takes three to five times as much, and an
 * importer has 512 MiB whatever a source's cursors do.
 */
const MAX_SOURCE_LENGTH = 64 * 1024 * 1024
const PAGE_TIMEOUT_MS = 30_000

export interface ReadOptions {
  source: Pick<SeedSource, 'parse'>
  /** A file's path or an http(s) URL. */
  from: string
  /** Rows to read at most; null for all. */
  limit: number | null
  retryMs: number
  progress: Progress
  /** Pages to read at most; fewer in tests. */
  maxPages?: number
}

export interface ReadRows {
  values: unknown[]
  refused: Refusal[]
}

/**
 * All rows of a source. Nothing is kept of a source that ends in an error: a half-read source would
 * look like a source that lost the other half.
 */
export async function readSource(options: ReadOptions): Promise<ReadRows> {
  const { from, limit, progress } = options
  const rows: ReadRows = { values: [], refused: [] }
  const most = Math.min(limit ?? MAX_ROWS, MAX_ROWS)
  for await (const page of readPages(options)) {
    for (const value of page.values) if (rows.values.length < most) rows.values.push(value)
    for (const refusal of page.refused) rows.refused.push(refusal)
    progress.update(rows.values.length)
    if (rows.values.length >= most) break
  }
  if (limit === null && rows.values.length >= MAX_ROWS)
    throw new Error(`${from}: expected at most ${MAX_ROWS} rows`)
  return rows
}

async function* readPages({
  source,
  from,
  retryMs,
  maxPages = MAX_PAGES,
}: ReadOptions): AsyncGenerator<SourcePage> {
  if (!/^https?:\/\//i.test(from)) {
    yield parsePage(source, await readSaved(from), null, from)
    return
  }
  let url: URL | null = new URL(from)
  let length = 0
  let empty = 0
  const seen = new Set<string>()
  while (url !== null) {
    if (seen.has(url.href))
      throw new Error(`${from}: expected a new page each time, got ${url.href} twice`)
    if (seen.size >= maxPages) throw new Error(`${from}: expected at most ${maxPages} pages`)
    seen.add(url.href)
    const limits = { maxBytes: MAX_PAGE_BYTES, timeoutMs: PAGE_TIMEOUT_MS, retryMs }
    const text = await fetchText(url, limits)
    length += text.length
    if (length > MAX_SOURCE_LENGTH)
      throw new Error(`${from}: expected at most ${MAX_SOURCE_LENGTH} characters, got more`)
    const page = parsePage(source, text, url, from)
    empty = page.values.length + page.refused.length === 0 ? empty + 1 : 0
    if (empty >= MAX_EMPTY_PAGES && page.next !== null)
      throw new Error(`${from}: expected rows, got ${empty} pages without one and another to come`)
    yield page
    url = page.next
  }
}

function parsePage(
  source: ReadOptions['source'],
  text: string,
  address: URL | null,
  from: string,
): SourcePage {
  try {
    return source.parse(text, address)
  } catch (error) {
    throw new Error(
      `${address?.href ?? from}: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

async function readSaved(path: string): Promise<string> {
  const info = await stat(path).catch(() => null)
  if (info === null || !info.isFile())
    throw new Error(`--from ${path}: expected a file or an http(s) URL`)
  if (info.size > MAX_FILE_BYTES)
    throw new Error(`--from ${path}: expected at most ${MAX_FILE_BYTES} bytes, got ${info.size}`)
  return readFile(path, 'utf8')
}
