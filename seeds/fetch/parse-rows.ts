import { isJsonObject, parseJson } from '../../src/domain/wire/parse-json.ts'
import type { Refusal } from '../facts/refusal.ts'

/** Longest row, in UTF-16 units. */
const MAX_ROW_LENGTH = 256 * 1024

export interface RowShape {
  /** Names under which a page holds its rows. */
  lists: readonly string[]
  /** What a page or a line should be, for the message. */
  expected: string
  /** Whether an object by itself is a row. */
  isRow(value: Record<string, unknown>): boolean
  /** Longest row where the source's rows are larger than most. */
  maxRowLength?: number
}

export interface ParsedRows {
  values: unknown[]
  refused: Refusal[]
  /** The page around the rows: where the next one is. */
  page: Record<string, unknown> | null
}

/**
 * One page of a source, one row, a list of rows, or a line each (ndjson): told apart by what parses.
 *
 * @throws Error for anything else: an error page must not look like a source without rows.
 */
export function parseRows(text: string, shape: RowShape): ParsedRows {
  const whole = /^\s*[[{]/.test(text) ? parseJson(text) : undefined
  if (Array.isArray(whole)) return fromList(whole, null, shape)
  if (isJsonObject(whole)) return fromObject(whole, shape)
  return fromLines(text, shape)
}

function fromObject(whole: Record<string, unknown>, shape: RowShape): ParsedRows {
  for (const name of shape.lists) {
    const list = whole[name]
    if (Array.isArray(list)) return fromList(list, whole, shape)
    if (list !== undefined && !shape.isRow(whole))
      throw new Error(`expected ${shape.expected}, got ${name} of type ${typeOf(list)}`)
  }
  if (shape.isRow(whole)) return fromList([whole], null, shape)
  throw new Error(`expected ${shape.expected}, got an object with ${namesOf(whole)}`)
}

function fromList(rows: readonly unknown[], page: ParsedRows['page'], shape: RowShape): ParsedRows {
  const parsed: ParsedRows = { values: [], refused: [], page }
  const max = shape.maxRowLength ?? MAX_ROW_LENGTH
  rows.forEach((value, i) => {
    const name = `row ${i + 1}`
    const isText = typeof value === 'string'
    if (!isJsonObject(value) && !isText)
      parsed.refused.push({ reason: 'unreadable_row', name, detail: 'expected a JSON object' })
    else if (isTooLarge(value, max)) parsed.refused.push(tooLarge(name, max))
    else parsed.values.push(value)
  })
  return parsed
}

function fromLines(text: string, shape: RowShape): ParsedRows {
  const parsed: ParsedRows = { values: [], refused: [], page: null }
  const max = shape.maxRowLength ?? MAX_ROW_LENGTH
  text.split('\n').forEach((line, i) => {
    if (line.trim() === '') return
    const name = `line ${i + 1}`
    if (line.length > max) {
      parsed.refused.push(tooLarge(name, max))
      return
    }
    const value = parseJson(line)
    if (isJsonObject(value)) parsed.values.push(value)
    else parsed.refused.push({ reason: 'unreadable_row', name, detail: 'expected a JSON object' })
  })
  if (parsed.values.length === 0 && parsed.refused.length > 0)
    throw new Error(`expected ${shape.expected}, got ${JSON.stringify(text.trim().slice(0, 60))}`)
  return parsed
}

function tooLarge(name: string, max: number): Refusal {
  return { reason: 'row_too_large', name, detail: `expected at most ${max} characters` }
}

/** Deep nesting makes JSON.stringify throw where JSON.parse didn't: such a row is too large too. */
function isTooLarge(value: unknown, max: number): boolean {
  try {
    return JSON.stringify(value).length > max
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
 * Where a page says the next one is. The address is always the one that was just read with one
 * parameter changed: a source can't send an importer anywhere else.
 */
export function nextByCursor(address: URL | null, cursor: unknown): URL | null {
  if (address === null || typeof cursor !== 'string' || cursor === '') return null
  return withParameter(address, 'cursor', cursor)
}

/** `{limit, offset, total}`, at the top or under `pagination`; ends with the first empty page. */
export function nextByOffset(
  address: URL | null,
  page: ParsedRows['page'],
  rows: number,
): URL | null {
  const place = isJsonObject(page?.pagination) ? page.pagination : page
  const { offset, total } = place ?? {}
  if (address === null || rows === 0 || !isCount(total)) return null
  const next = (isCount(offset) ? offset : 0) + rows
  return next >= total ? null : withParameter(address, 'offset', String(next))
}

/** `{meta: {page, total_pages}}`. */
export function nextByNumber(
  address: URL | null,
  page: ParsedRows['page'],
  rows: number,
): URL | null {
  const meta = page?.meta
  if (address === null || rows === 0 || !isJsonObject(meta)) return null
  const { page: number, total_pages: last } = meta
  if (!isCount(number) || !isCount(last) || number >= last) return null
  return withParameter(address, 'page', String(number + 1))
}

function withParameter(address: URL, name: string, value: string): URL {
  const next = new URL(address)
  next.searchParams.set(name, value)
  return next
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
