import { isJsonObject, parseJson } from '../../src/domain/wire/parse-json.ts'
import type { Refusal } from '../facts/refusal.ts'
import type { RowShape, SourcePage } from '../facts/seed-source.ts'
import { readYaml } from '../text/read-yaml.ts'

/** Longest row, in UTF-16 units. */
const MAX_ROW_LENGTH = 256 * 1024

interface ParsedRows {
  values: unknown[]
  refused: Refusal[]
  /** The page around the rows: where the next one is. */
  page: Record<string, unknown> | null
}

/**
 * Rows of one answer or saved file, and where the next ones are.
 *
 * @throws Error when the text is not a page of this shape, such as an error page
 */
export function parsePage(text: string, address: URL | null, shape: RowShape): SourcePage {
  const addresses = shape.takesAddresses === true ? parseAddresses(text) : null
  if (addresses !== null) return { values: addresses, refused: [], next: null }
  if (shape.takesCsv === true) return { values: parseCsv(text, shape), refused: [], next: null }
  const { values, refused, page } = parseRows(text, shape)
  const next = findNext(address, page, values.length)
  return { values: withDay(values, page, shape), refused, next }
}

/** Values without commas and quotes: ids, days and numbers. @throws Error naming a line of another length */
function parseCsv(text: string, { expected }: RowShape): object[] {
  const lines = text.split(/\r?\n/).map((line, at) => ({ at: at + 1, line }))
  const [head, ...rows] = lines.filter(({ line }) => line.trim() !== '' && !line.startsWith('#'))
  const names = head?.line.split(',') ?? []
  return rows.map(({ at, line }) => {
    const values = line.split(',')
    if (values.length !== names.length || line.includes('"'))
      throw new Error(`line ${at}: expected ${expected}: ${names.length} plain values, got ${line}`)
    return Object.fromEntries(names.map((name, place) => [name, values[place] ?? '']))
  })
}

/** Counts in a saved page are of the day it was saved, not of the import. */
function withDay(values: unknown[], page: ParsedRows['page'], { savedAt }: RowShape): unknown[] {
  const day = savedAt === undefined ? undefined : page?.[savedAt]
  if (savedAt === undefined || typeof day !== 'string') return values
  return values.map((row) => (isJsonObject(row) ? { ...row, [savedAt]: day } : row))
}

/** Addresses, one per line; null for any other text. */
function parseAddresses(text: string): string[] | null {
  const lines = text.split('\n').map((line) => line.trim())
  return lines[0]?.startsWith('https://') ? lines.filter((line) => line !== '') : null
}

/**
 * One page of a source, one row, a list of rows, or one per line (ndjson): whatever parses.
 *
 * @throws Error for anything else: an error page must not look like a source without rows.
 */
function parseRows(text: string, shape: RowShape): ParsedRows {
  const json = /^\s*[[{]/.test(text) ? parseJson(text) : undefined
  const whole = json ?? (shape.takesYaml === true ? readYaml(text) : undefined)
  const page = isJsonObject(whole) ? whole : null
  const lists = [whole, ...shape.lists.map((name) => page?.[name])].flatMap((each) => {
    if (Array.isArray(each)) return [each]
    return each !== whole && isJsonObject(each) ? [toNamedRows(each)] : []
  })
  const isRow = page !== null && lists.length === 0 && shape.isRow(page)
  if (isRow || lists.length > 0)
    return judgeRows(
      (isRow ? [page] : lists.flat()).map((value, i) => ({ name: `row ${i + 1}`, value })),
      isRow ? null : page,
    )
  const parsed = judgeRows(page === null ? toLines(text) : [], null)
  if (page !== null || (parsed.values.length === 0 && parsed.refused.length > 0))
    throw new Error(`expected ${shape.expected}, got ${JSON.stringify(text.trim().slice(0, 60))}`)
  return parsed
}

/** Rows of a catalogue that are keyed by name. */
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
 * The address of the next page: by a cursor, by its own number and the last one's, or by an offset
 * that ends with the first empty page; at the top or in a member about the page. It is always the
 * address just read with one parameter changed: a source can't send an importer anywhere else.
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
