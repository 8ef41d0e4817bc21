import { readFile, stat } from 'node:fs/promises'
import type { Refusal } from '../../facts/refusal.ts'
import { fetchText } from '../../fetch/fetch-text.ts'
import type { Progress } from '../../fetch/progress.ts'
import { parseRows, type RowBatch } from './parse-rows.ts'
import { REGISTRY_URL } from './registry-source.ts'

/** The live registry, newest version of every server. */
export const LIVE_URL = `${REGISTRY_URL}/v0.1/servers?limit=100&version=latest`

const MAX_PAGES = 5000
const MAX_ROWS = 300_000
const MAX_PAGE_BYTES = 32 * 1024 * 1024
const MAX_FILE_BYTES = 256 * 1024 * 1024
const PAGE_TIMEOUT_MS = 30_000

export interface ReadOptions {
  /** A file's path or an http(s) URL. */
  from: string
  /** Rows to read at most; null for all. */
  limit: number | null
  retryMs: number
  progress: Progress
}

export interface ReadRows {
  values: unknown[]
  refused: Refusal[]
}

/**
 * All rows of a source. Nothing is kept of a source that ends in an error: a half-read registry
 * would look like a registry that lost the other half.
 */
export async function readRows(options: ReadOptions): Promise<ReadRows> {
  const rows: ReadRows = { values: [], refused: [] }
  const limit = Math.min(options.limit ?? MAX_ROWS, MAX_ROWS)
  for await (const batch of readBatches(options)) {
    for (const value of batch.values) if (rows.values.length < limit) rows.values.push(value)
    rows.refused.push(...batch.refused)
    if (rows.values.length === 0 && rows.refused.length > 0)
      throw new Error(`${options.from}: expected a page of servers or a line of JSON for each`)
    options.progress.update(rows.values.length)
    if (rows.values.length >= limit) break
  }
  if (options.limit === null && rows.values.length >= MAX_ROWS)
    throw new Error(`${options.from}: expected at most ${MAX_ROWS} rows`)
  return rows
}

async function* readBatches({ from, retryMs }: ReadOptions): AsyncGenerator<RowBatch> {
  if (!/^https?:\/\//i.test(from)) {
    yield parseRows(await readSaved(from))
    return
  }
  const url = new URL(from)
  const seen = new Set<string>()
  for (let page = 0; page < MAX_PAGES; page++) {
    const options = { maxBytes: MAX_PAGE_BYTES, timeoutMs: PAGE_TIMEOUT_MS, retryMs }
    const batch = parseRows(await fetchText(url, options))
    yield batch
    const { nextCursor } = batch
    if (nextCursor === null) return
    if (seen.has(nextCursor))
      throw new Error(`${from}: expected a new cursor with each page, got the same one twice`)
    seen.add(nextCursor)
    url.searchParams.set('cursor', nextCursor)
  }
  throw new Error(`${from}: expected at most ${MAX_PAGES} pages`)
}

async function readSaved(path: string): Promise<string> {
  const info = await stat(path).catch(() => null)
  if (info === null || !info.isFile())
    throw new Error(`--from ${path}: expected a file or an http(s) URL`)
  if (info.size > MAX_FILE_BYTES)
    throw new Error(`--from ${path}: expected at most ${MAX_FILE_BYTES} bytes, got ${info.size}`)
  return readFile(path, 'utf8')
}
