import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'
import { type HttpLimits, PURPOSES } from '../../functions/net/guard.ts'
import { createOperatorClient, type Fetcher } from '../../functions/net/http-client.ts'
import { parseConfig } from '../../functions/ports/config.ts'
import type { ListingFacts } from '../../src/domain/listing/listing-facts.ts'
import { headerOf, type ProbeAnswer, parseRetryAfter } from '../../src/domain/probe/finding.ts'
import { isJsonObject, parseJson } from '../../src/domain/wire/json.ts'
import type { ChosenSeeds, MapRules, Refusal } from '../facts/map-rows.ts'
import type { SellerReader } from './read-sellers.ts'

/** An importer: where its rows are, how they are read from a text, and how they are mapped. */
export interface SeedSource {
  id: string
  title: string
  /** Null if only a file can be read; empty if the listings themselves are the source. */
  liveUrl: string | null
  /** Set if a whole run returns every row, so that a missing row is gone. */
  promisesAll?: true
  /** Set if the rows only add to existing listings. */
  addsOnly?: true
  /** Query parameter that requests only rows changed since an instant. */
  sinceParameter?: string
  /** Members in which a page has its rows, as a list or as an object keyed by name. */
  lists: readonly string[]
  /** The expected content of a page or a line, for error messages. */
  expected: string
  /** Whether a whole text is one row. */
  isRow(value: Record<string, unknown>): boolean
  takesYaml?: true
  /** The rows of a text in the source's own format; null for any other text. @throws Error if such a text is broken */
  readText?(text: string): unknown[] | null
  /** Member of a saved page with the day of saving, which is copied into each row. */
  savedAt?: string
  /** Adds the file's folder to a row, for sources whose folders describe one service each. */
  place?(row: unknown, folder: string | null): unknown
  /** Rows made from existing listings, for a source that reads the listings' sellers. */
  fromContent?(listings: readonly ListedFacts[]): unknown[]
  /** Reads the documents (cards, sellers' files) that the rows point to. Never throws for a broken document. */
  follow?(values: readonly unknown[], reader: SellerReader): Promise<ReadRows>
  choose(values: readonly unknown[], rules: MapRules): ChosenSeeds
}

export interface ListedFacts {
  id: string
  facts: { [Name in keyof ListingFacts]?: ListingFacts[Name] | undefined }
}

export interface ReadRows {
  values: unknown[]
  refused: Refusal[]
}

interface SourcePage extends ReadRows {
  /** Address of the next page; null at the end. */
  next: URL | null
}

const MAX_PAGES = 5000
/** How many consecutive pages may be empty: a source with more only claims to have more rows. */
const MAX_EMPTY_PAGES = 20
const MAX_ROWS = 300_000
const MAX_FILE_BYTES = 64 * 1024 * 1024
/**
 * Most UTF-16 units in all pages: a parsed source takes three to five times as much memory, and an
 * importer must stay within 512 MiB even if a source never ends.
 */
const MAX_SOURCE_LENGTH = 64 * 1024 * 1024

type RowForm = Pick<
  SeedSource,
  'lists' | 'expected' | 'isRow' | 'takesYaml' | 'readText' | 'savedAt' | 'place'
>

interface ReadOptions {
  source: RowForm
  /** The path of a file, or of a folder whose JSON files are pages; or an http(s) URL. */
  from: string
  limit: number | null
  retryMs: number
  /** Pages to read at most; fewer in tests. */
  maxPages?: number
}

/** All of a source's rows. An error discards all rows: a half-read source would look as if the other half were gone. */
export async function readSource(options: ReadOptions): Promise<ReadRows> {
  const { from, limit } = options
  const rows: ReadRows = { values: [], refused: [] }
  const most = Math.min(limit ?? MAX_ROWS, MAX_ROWS)
  for await (const page of readPages(options)) {
    for (const value of page.values) if (rows.values.length < most) rows.values.push(value)
    for (const refusal of page.refused) rows.refused.push(refusal)
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
      throw new Error(
        `${from}: expected rows, got ${empty} pages without rows and a link to another page`,
      )
    yield page
    url = page.next
  }
}

function readPage(
  source: RowForm,
  text: string,
  at: { address?: URL; folder?: string } = {},
): SourcePage {
  const page = parsePage(text, at.address ?? null, source)
  const { place = (row) => row } = source
  return { ...page, values: page.values.map((row) => place(row, at.folder ?? null)) }
}

function named(from: string, read: () => SourcePage): SourcePage {
  try {
    return read()
  } catch (error) {
    throw new Error(`${from}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Symbolic links are not followed: a folder of strangers' files may point anywhere. */
async function* readSaved(source: RowForm, from: string, maxPages: number) {
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

/** In a folder, an unreadable file is refused by its name; the other files are still read. */
function readFileOf(source: RowForm, text: string, file: string): SourcePage {
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

/** Statuses worth a retry: too many requests, timeouts and server errors. */
const RETRIED = [408, 429, 500, 502, 503, 504]
const MAX_TRIES = 4
const MAX_WAIT_MS = 30_000

interface FetchOptions {
  /** First pause; doubles with each try. Injected so that tests don't wait. */
  retryMs: number
  /** Replaces an importer's limits in tests. */
  limits?: HttpLimits
}

/**
 * GET of a text, bounded in bytes, time, tries and redirects; a redirect to another origin is
 * refused, since that answer would not be the source's.
 * @throws Error that names the address, what was received, and what was expected
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
    // Retrying earlier than `Retry-After` would get an importer banned.
    if (pause > MAX_WAIT_MS)
      throw new Error(
        `${url.href}: ${result.fault}; the source allows the next request in ${Math.ceil(pause / 1000)} s: try again then`,
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
    : { fault: 'the connection was lost before the answer ended', isPassing: true }
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

const MAX_ROW_LENGTH = 256 * 1024

interface ParsedRows extends ReadRows {
  /** The page around the rows, which may link to the next page. */
  page: Record<string, unknown> | null
}

/**
 * The rows in one answer or saved file, and the address of the next page.
 * @throws Error if the text is not a page of this shape, such as an error page
 */
export function parsePage(text: string, address: URL | null, source: RowForm): SourcePage {
  const own = source.readText?.(text) ?? null
  if (own !== null) return { values: own, refused: [], next: null }
  const { values, refused, page } = parseRows(text, source)
  const next = findNext(address, page, values.length)
  return { values: withDay(values, page, source), refused, next }
}

/** Counts in a saved page are as of the day on which it was saved, not the day of the import. */
function withDay(values: unknown[], page: ParsedRows['page'], { savedAt }: RowForm): unknown[] {
  const day = savedAt === undefined ? undefined : page?.[savedAt]
  if (savedAt === undefined || typeof day !== 'string') return values
  return values.map((row) => (isJsonObject(row) ? { ...row, [savedAt]: day } : row))
}

/** Addresses, one per line; null for any other text. */
export function parseAddresses(text: string): string[] | null {
  const lines = text.split('\n').map((line) => line.trim())
  return lines[0]?.startsWith('https://') ? lines.filter((line) => line !== '') : null
}

/**
 * Parses a page from a source, a single row, a list of rows, or one row per line (ndjson).
 * @throws Error for any other text: an error page must not look like a source without rows
 */
function parseRows(text: string, source: RowForm): ParsedRows {
  const json = /^\s*[[{]/.test(text) ? parseJson(text) : undefined
  const whole = json ?? (source.takesYaml === true ? readYaml(text) : undefined)
  const page = isJsonObject(whole) ? whole : null
  const lists = [whole, ...source.lists.map((name) => page?.[name])].flatMap((each) => {
    if (Array.isArray(each)) return [each]
    return each !== whole && isJsonObject(each) ? [toNamedRows(each)] : []
  })
  const isRow = page !== null && lists.length === 0 && source.isRow(page)
  if (isRow || lists.length > 0)
    return judgeRows(
      (isRow ? [page] : lists.flat()).map((value, i) => ({ name: `row ${i + 1}`, value })),
      isRow ? null : page,
    )
  const parsed = judgeRows(page === null ? toLines(text) : [], null)
  if (page !== null || (parsed.values.length === 0 && parsed.refused.length > 0))
    throw new Error(`expected ${source.expected}, got ${JSON.stringify(text.trim().slice(0, 60))}`)
  return parsed
}

/** Rows in a catalogue that are keyed by name. */
function toNamedRows(rows: Record<string, unknown>): unknown[] {
  return Object.entries(rows).map(([name, row]) => (isJsonObject(row) ? { ...row, name } : row))
}

function toLines(text: string) {
  return text.split('\n').flatMap((line, i) => {
    const value = line.length > MAX_ROW_LENGTH ? line : parseJson(line)
    const isRow = isJsonObject(value) || value === line
    return line.trim() === '' ? [] : [{ name: `line ${i + 1}`, value: isRow ? value : undefined }]
  })
}

function judgeRows(
  rows: readonly { name: string; value: unknown }[],
  page: ParsedRows['page'],
): ParsedRows {
  const parsed: ParsedRows = { values: [], refused: [], page }
  const detail = `expected at most ${MAX_ROW_LENGTH} characters`
  for (const { name, value } of rows)
    if (!isJsonObject(value) && typeof value !== 'string')
      parsed.refused.push({ reason: 'unreadable_row', name, detail: 'expected a JSON object' })
    else if (JSON.stringify(value).length <= MAX_ROW_LENGTH) parsed.values.push(value)
    else parsed.refused.push({ reason: 'row_too_large', name, detail })
  return parsed
}

/**
 * The address of the next page: from a cursor, from the page's number and the last page's, or from an
 * offset, which ends at the first empty page. These are at the top or in a member about the page. Only
 * one parameter of the address just read changes: a source can't send an importer elsewhere.
 */
function findNext(address: URL | null, page: ParsedRows['page'], rows: number): URL | null {
  if (address === null || page === null) return null
  const places = [page, page.metadata, page.pagination, page.meta].filter(isJsonObject)
  const about = Object.fromEntries(places.flatMap((place) => Object.entries(place)))
  // Old registries wrote `next_cursor`.
  const cursor = about.nextCursor ?? about.next_cursor ?? about.cursor
  if (typeof cursor === 'string' && cursor !== '') return withParameter(address, 'cursor', cursor)
  const { page: number, total_pages: last, offset, total } = about
  if (rows === 0) return null
  if (isCount(number) && isCount(last))
    return number < last ? withParameter(address, 'page', String(number + 1)) : null
  const next = (isCount(offset) ? offset : 0) + rows
  return isCount(total) && next < total ? withParameter(address, 'offset', String(next)) : null
}

function withParameter(address: URL, name: string, value: string): URL {
  const next = new URL(address)
  next.searchParams.set(name, value)
  return next
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/**
 * Parses YAML from outside without aliases: with aliases, a few lines could fill the memory.
 * @returns undefined for text that is not YAML
 */
export function readYaml(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 0, merge: false })
  } catch {
    return undefined
  }
}
