import { isJsonObject } from '../../src/domain/wire/parse-json.ts'

type Page = Record<string, unknown> | null

/**
 * Where a page says the next one is. The address is always the one that was just read with one
 * parameter changed: a source can't send an importer anywhere else.
 */
export function nextByCursor(address: URL | null, cursor: unknown): URL | null {
  if (address === null || typeof cursor !== 'string' || cursor === '') return null
  return withParameter(address, 'cursor', cursor)
}

/** `{limit, offset, total}`, at the top or under `pagination`; ends with the first empty page. */
export function nextByOffset(address: URL | null, page: Page, rows: number): URL | null {
  const place = isJsonObject(page?.pagination) ? page.pagination : page
  const { offset, total } = place ?? {}
  if (address === null || rows === 0 || !isCount(total)) return null
  const next = (isCount(offset) ? offset : 0) + rows
  return next >= total ? null : withParameter(address, 'offset', String(next))
}

/** `{meta: {page, total_pages}}`. */
export function nextByNumber(address: URL | null, page: Page, rows: number): URL | null {
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
