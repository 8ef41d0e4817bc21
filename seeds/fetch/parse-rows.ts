import { isJsonObject, parseJson } from '../../src/domain/wire/parse-json.ts'
import type { Refusal } from '../facts/refusal.ts'
import type { SourcePage } from '../facts/seed-source.ts'

/** Longest row, in UTF-16 units. */
const MAX_ROW_LENGTH = 256 * 1024

export interface RowShape {
  /** Names under which a page holds its rows. */
  lists: readonly string[]
  /** What a page or a line should be, for the message. */
  expected: string
  /** Whether an object by itself is a row. */
  isRow(value: Record<string, unknown>): boolean
  /** Whether a text of addresses, one a line, is rows too. */
  takesAddresses?: boolean
}

interface ParsedRows {
  values: unknown[]
  refused: Refusal[]
  /** The page around the rows: where the next one is. */
  page: Record<string, unknown> | null
}

/** Rows of one answer, and where the next ones are. @throws Error for what is no page of this shape */
export function parsePage(text: string, address: URL | null, shape: RowShape): SourcePage {
  const addresses = shape.takesAddresses === true ? parseAddresses(text) : null
  if (addresses !== null) return { values: addresses, refused: [], next: null }
  const { values, refused, page } = parseRows(text, shape)
  return { values, refused, next: findNext(address, page, values.length) }
}

/** Addresses, one a line; null for a text that is something else. */
function parseAddresses(text: string): string[] | null {
  const lines = text.split('\n').map((line) => line.trim())
  return lines[0]?.startsWith('https://') ? lines.filter((line) => line !== '') : null
}

/**
 * One page of a source, one row, a list of rows, or a line each (ndjson): told apart by what parses.
 *
 * @throws Error for anything else: an error page must not look like a source without rows.
 */
function parseRows(text: string, shape: RowShape): ParsedRows {
  const whole = /^\s*[[{]/.test(text) ? parseJson(text) : undefined
  if (Array.isArray(whole)) return fromList(whole, null)
  if (isJsonObject(whole)) return fromObject(whole, shape)
  return fromLines(text, shape)
}

function fromObject(whole: Record<string, unknown>, shape: RowShape): ParsedRows {
  for (const name of shape.lists) {
    const list = whole[name]
    if (Array.isArray(list)) return fromList(list, whole)
    if (list !== undefined && !shape.isRow(whole))
      throw new Error(`expected ${shape.expected}, got ${name} of type ${typeOf(list)}`)
  }
  if (shape.isRow(whole)) return fromList([whole], null)
  throw new Error(`expected ${shape.expected}, got an object with ${namesOf(whole)}`)
}

function fromList(rows: readonly unknown[], page: ParsedRows['page']): ParsedRows {
  const parsed: ParsedRows = { values: [], refused: [], page }
  rows.forEach((value, i) => {
    const name = `row ${i + 1}`
    const isText = typeof value === 'string'
    if (!isJsonObject(value) && !isText)
      parsed.refused.push({ reason: 'unreadable_row', name, detail: 'expected a JSON object' })
    else if (isTooLarge(value)) parsed.refused.push(tooLarge(name))
    else parsed.values.push(value)
  })
  return parsed
}

function fromLines(text: string, shape: RowShape): ParsedRows {
  const parsed: ParsedRows = { values: [], refused: [], page: null }
  text.split('\n').forEach((line, i) => {
    if (line.trim() === '') return
    const name = `line ${i + 1}`
    const value = line.length > MAX_ROW_LENGTH ? undefined : parseJson(line)
    if (line.length > MAX_ROW_LENGTH) parsed.refused.push(tooLarge(name))
    else if (isJsonObject(value)) parsed.values.push(value)
    else parsed.refused.push({ reason: 'unreadable_row', name, detail: 'expected a JSON object' })
  })
  if (parsed.values.length === 0 && parsed.refused.length > 0)
    throw new Error(`expected ${shape.expected}, got ${JSON.stringify(text.trim().slice(0, 60))}`)
  return parsed
}

function tooLarge(name: string): Refusal {
  return { reason: 'row_too_large', name, detail: `expected at most ${MAX_ROW_LENGTH} characters` }
}

/** Deep nesting makes JSON.stringify throw where JSON.parse didn't: such a row is too large too. */
function isTooLarge(value: unknown): boolean {
  try {
    return JSON.stringify(value).length > MAX_ROW_LENGTH
  } catch {
    return true
  }
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : typeof value
}

function namesOf(value: Record<string, unknown>): string {
  const names = Object.keys(value)
  return names.length === 0 ? 'nothing in it' : names.slice(0, 5).join(', ').slice(0, 200)
}

/**
 * Where a page says the next one is: by a cursor, by its own number and the last one's, or by an
 * offset that ends with the first empty page; at the top or in a member about the page. The address is
 * always the one that was just read with one parameter changed: a source can't send an importer
 * anywhere else.
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
