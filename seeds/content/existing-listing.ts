import {
  type ListingMark,
  marksOf,
  operationMark,
  originOf,
  packageMark,
  remoteMark,
} from '../facts/listing-marks.ts'
import { parseListingFields } from './listing-text.ts'

/** A listing that is in the content already. */
export interface ExistingListing {
  /** Path from the content folder. */
  file: string
  /** Null for a link or a folder of that name. */
  text: string | null
  /** Null where the front matter can't be read. */
  fields: ReadonlyMap<string, unknown> | null
  marks: readonly ListingMark[]
  refs: readonly string[]
  /** Origin of a listing that names no operation: it stands for all of them. */
  wholeOrigin: string | null
}

export function toExistingListing(file: string, text: string | null): ExistingListing {
  const fields = text === null ? null : parseListingFields(text)
  const http = listOf(fields?.get('http')).flatMap((row) => textOf(row, 'url'))
  const url = fields?.get('url')
  const isWhole = fields?.get('kind') === 'http_api' && http.length === 0 && typeof url === 'string'
  return {
    file,
    text,
    fields,
    marks: [
      ...http.map(operationMark),
      ...listOf(fields?.get('invoke')).flatMap(toEndpoint),
      ...ownMarks(fields),
    ],
    refs: listOf(fields?.get('sources')).flatMap((row) => textOf(row, 'ref')),
    wholeOrigin: isWhole ? originOf(url) : null,
  }
}

/** Marks by the listing's own address: agents, and priced addresses without a list of operations. */
function ownMarks(fields: ExistingListing['fields']): ListingMark[] {
  const kind = fields?.get('kind')
  const url = fields?.get('url')
  if (typeof kind !== 'string' || typeof url !== 'string') return []
  if (kind !== 'a2a_agent' && listOf(fields?.get('http')).length > 0) return []
  const [card] = textOf(fields?.get('discovery'), 'agent_card')
  return marksOf({ kind, url, discovery: { agent_card: card } })
}

/** Read loosely: a file that `check` would refuse still must not be listed a second time. */
function toEndpoint(entry: unknown): ListingMark[] {
  const [url] = textOf(entry, 'url')
  if (url !== undefined) return [remoteMark(url)]
  const [registry] = textOf(entry, 'registry')
  const [identifier] = textOf(entry, 'identifier')
  return registry === undefined || identifier === undefined
    ? []
    : [packageMark(registry, identifier)]
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function textOf(value: unknown, key: string): string[] {
  if (typeof value !== 'object' || value === null) return []
  const found: unknown = Object.entries(value).find(([name]) => name === key)?.[1]
  return typeof found === 'string' ? [found] : []
}
