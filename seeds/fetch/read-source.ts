import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type HttpLimits, PURPOSES } from '../../functions/net/guard.ts'
import { createOperatorClient, type Fetcher } from '../../functions/net/http-client.ts'
import { parseConfig } from '../../functions/ports/config.ts'
import { headerOf, type ProbeAnswer, parseRetryAfter } from '../../src/domain/probe/finding.ts'
import type { Refusal } from '../facts/refusal.ts'
import type { SeedSource, SourcePage } from '../facts/seed-source.ts'
import { parsePage } from './parse-rows.ts'
import type { Progress } from './progress.ts'

const MAX_PAGES = 5000
/** Pages in a row without rows: such a source only claims that there is more. */
const MAX_EMPTY_PAGES = 20
const MAX_ROWS = 300_000
const MAX_FILE_BYTES = 64 * 1024 * 1024
/**
 * All pages together, in UTF-16 units: parsed, a source takes three to five times as much, and an
 * importer must stay within 512 MiB whatever a source's cursors do.
 */
const MAX_SOURCE_LENGTH = 64 * 1024 * 1024

export interface ReadOptions {
  source: Pick<SeedSource, 'shape' | 'place'>
  /** The path of a file, or of a folder whose JSON files are pages; or an http(s) URL. */
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
 * All rows of a source. Nothing is kept when it ends in an error: a half-read source would look
 * like a source that lost the other half.
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
    yield* readSaved(source, from, maxPages)
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
    const text = await fetchText(url, { retryMs })
    length += text.length
    if (length > MAX_SOURCE_LENGTH)
      throw new Error(`${from}: expected at most ${MAX_SOURCE_LENGTH} characters, got more`)
    const address = url
    const page = named(url.href, () => readPage(source, text, { address }))
    empty = page.values.length + page.refused.length === 0 ? empty + 1 : 0
    if (empty >= MAX_EMPTY_PAGES && page.next !== null)
      throw new Error(`${from}: expected rows, got ${empty} pages without one and another to come`)
    yield page
    url = page.next
  }
}

function readPage({ shape, place }: ReadOptions['source'], text: string, at: PagePlace = {}) {
  const page = parsePage(text, at.address ?? null, shape)
  if (place === undefined) return page
  return { ...page, values: page.values.map((row) => place(row, at.folder ?? null)) }
}

interface PagePlace {
  address?: URL
  /** The folder of a saved file. */
  folder?: string
}

/** A text from outside the source, with its address. */
function named(from: string, read: () => SourcePage): SourcePage {
  try {
    return read()
  } catch (error) {
    throw new Error(`${from}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Links are not followed: a folder of strangers' files may point anywhere. */
async function* readSaved(source: ReadOptions['source'], from: string, maxPages: number) {
  const info = await stat(from).catch(() => null)
  if (info?.isFile() !== true && info?.isDirectory() !== true)
    throw new Error(`--from ${from}: expected a file, a folder or an http(s) URL`)
  if (info.isFile()) {
    const text = await readBoundedFile(from, MAX_FILE_BYTES)
    yield named(from, () => readPage(source, text))
    return
  }
  const entries = await readdir(from, { recursive: true, withFileTypes: true })
  const found = entries.filter((each) => each.isFile() && each.name.endsWith('.json'))
  if (found.length > maxPages)
    throw new Error(`--from ${from}: expected at most ${maxPages} files, got ${found.length}`)
  let left = MAX_FILE_BYTES
  for (const file of found.map(({ parentPath, name }) => join(parentPath, name)).sort()) {
    const text = await readBoundedFile(file, left)
    left -= text.length
    yield readFileOf(source, text, file)
  }
}

/** One unreadable file of many is refused by name. */
function readFileOf(source: ReadOptions['source'], text: string, file: string): SourcePage {
  try {
    return readPage(source, text, { folder: dirname(file) })
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return { values: [], refused: [{ reason: 'unreadable_row', name: file, detail }], next: null }
  }
}

async function readBoundedFile(path: string, maxBytes: number): Promise<string> {
  const { size } = await stat(path)
  if (size <= maxBytes) return readFile(path, 'utf8')
  throw new Error(`--from ${path}: expected at most ${maxBytes} bytes, got ${size}`)
}

/** Answers worth a second try: too many requests, and a server's own trouble. */
const RETRIED = [408, 429, 500, 502, 503, 504]
const MAX_TRIES = 4
const MAX_WAIT_MS = 30_000

export interface FetchOptions {
  /** First pause; doubles with each try. Injected so that tests don't wait. */
  retryMs: number
  /** Overrides an importer's, in tests. */
  limits?: HttpLimits
}

/**
 * GET of a text, bounded in bytes, time, tries and redirects; a redirect to another origin is
 * refused, since the answer would be somebody else's.
 *
 * @throws Error that names the address, what came, and what was expected.
 */
export async function fetchText(
  url: URL,
  { retryMs, limits = PURPOSES.source.limits }: FetchOptions,
): Promise<string> {
  const { BASE_URL: baseUrl } = parseConfig(process.env)
  await using client = createOperatorClient('source', { baseUrl, limits })
  for (let attempt = 1; ; attempt++) {
    const result = await tryFetch(url, client, limits)
    if ('text' in result) return result.text
    if (!result.isPassing || attempt === MAX_TRIES)
      throw new Error(`${url.href}: ${result.fault}${attempt > 1 ? ` (${attempt} tries)` : ''}`)
    const pause = result.retryAfterMs ?? retryMs * 2 ** (attempt - 1)
    // Retrying earlier than asked gets an importer banned for good.
    if (pause > MAX_WAIT_MS)
      throw new Error(
        `${url.href}: ${result.fault}, and to be asked again in ${Math.ceil(pause / 1000)} s; try later`,
      )
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

type Try = { text: string } | { fault: string; isPassing: boolean; retryAfterMs?: number }

async function tryFetch(url: URL, client: Fetcher, limits: HttpLimits): Promise<Try> {
  const reply = await client.fetch({
    method: 'GET',
    url: url.href,
    headers: { accept: 'application/json, application/x-ndjson', 'accept-encoding': 'gzip, br' },
    mayFollow: (next) => next.origin === url.origin,
  })
  const isLate = reply.answered ? reply.answer.cut === 'time' : reply.failure === 'timeout'
  if (isLate)
    return { fault: `expected an answer within ${limits.answerMs / 1000} s`, isPassing: true }
  if (!reply.answered) return { fault: `no answer (${reply.detail})`, isPassing: true }
  const { cut, body } = reply.answer
  if (reply.answer.status !== 200) return toFault(reply.answer, url)
  if (cut === 'size')
    return { fault: `expected at most ${limits.bodyBytes} bytes, got more`, isPassing: false }
  return cut === null
    ? { text: body }
    : { fault: 'the connection was lost within the answer', isPassing: true }
}

function toFault(answer: ProbeAnswer, url: URL): Try {
  const { status } = answer
  const location = headerOf(answer, 'location')
  if (status >= 300 && status <= 399 && location !== undefined) {
    const isOurs = URL.parse(location, url)?.origin === url.origin
    const { redirects } = PURPOSES.source
    const expected = isOurs ? `at most ${redirects} redirects` : 'no redirect to another host'
    return { fault: `expected ${expected}, got ${location}`, isPassing: false }
  }
  const wait = parseRetryAfter(headerOf(answer, 'retry-after'), Date.now())
  return {
    fault: `expected status 200, got ${status}`,
    isPassing: RETRIED.includes(status),
    ...(wait !== null && { retryAfterMs: wait * 1000 }),
  }
}
