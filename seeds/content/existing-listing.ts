import {
  type ListingMark,
  marksOf,
  operationMark,
  originOf,
  packageMark,
  remoteMark,
} from '../facts/listing-marks.ts'
import { parseListingFields } from './listing-text.ts'

type Fields = ReadonlyMap<string, unknown>

/** What tells one service from another. */
export interface Identity {
  kind: unknown
  marks: readonly ListingMark[]
  refs: readonly string[]
  /** Of an API; null for any other kind. */
  origin: string | null
  /** It names no operation, so it stands for all of its origin. */
  isWhole: boolean
}

/** A listing that is in the content already. */
export interface ExistingListing extends Identity {
  /** Path from the content folder. */
  file: string
  /** Null for a link or a folder of that name. */
  text: string | null
  /** Null where the front matter can't be read. */
  fields: Fields | null
}

export function toExistingListing(file: string, text: string | null): ExistingListing {
  const fields = text === null ? null : parseListingFields(text)
  return { file, text, fields, ...identify(fields) }
}

/** Read loosely: a file that `check` would refuse still must not be listed a second time. */
export function identify(fields: Fields | null): Identity {
  const http = listOf(fields?.get('http')).flatMap((row) => textOf(row, 'url'))
  const [kind, url] = [fields?.get('kind'), fields?.get('url')]
  const origin = kind === 'http_api' && typeof url === 'string' ? originOf(url) : null
  return {
    kind,
    marks: [
      ...http.map(operationMark),
      ...listOf(fields?.get('invoke')).flatMap(toEndpoint),
      ...(http.length === 0 || kind === 'a2a_agent' ? ownMarks(fields) : []),
    ],
    refs: listOf(fields?.get('sources')).flatMap((row) => textOf(row, 'ref')),
    origin,
    isWhole: origin !== null && http.length === 0,
  }
}

/** Marks by the listing's own address: agents, and priced addresses without a list of operations. */
function ownMarks(fields: Fields | null): ListingMark[] {
  const [kind, url] = [fields?.get('kind'), fields?.get('url')]
  if (typeof kind !== 'string' || typeof url !== 'string') return []
  const [card] = textOf(fields?.get('discovery'), 'agent_card')
  return marksOf({ kind, url, discovery: { agent_card: card } })
}

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
