import { endpointsOf } from '../facts/seed-facts.ts'
import { parseListingFields } from './listing-text.ts'

/** A listing that is in the content already. */
export interface ExistingListing {
  /** Path from the content folder. */
  file: string
  /** Null for a link or a folder of that name. */
  text: string | null
  /** Null where the front matter can't be read. */
  fields: ReadonlyMap<string, unknown> | null
  endpoints: readonly string[]
  refs: readonly string[]
}

export function toExistingListing(file: string, text: string | null): ExistingListing {
  const fields = text === null ? null : parseListingFields(text)
  return {
    file,
    text,
    fields,
    endpoints: listOf(fields?.get('invoke')).flatMap(toEndpoint),
    refs: listOf(fields?.get('sources')).flatMap((row) => textOf(row, 'ref')),
  }
}

/** Read loosely: a file that `check` would refuse still must not be listed a second time. */
function toEndpoint(entry: unknown): string[] {
  const url = textOf(entry, 'url')[0]
  if (url !== undefined)
    return endpointsOf({ invoke: [{ kind: 'mcp', transport: 'streamable-http', url }] })
  const [registry] = textOf(entry, 'registry')
  const [identifier] = textOf(entry, 'identifier')
  return registry === undefined || identifier === undefined
    ? []
    : [`package ${registry} ${identifier.toLowerCase()}`]
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function textOf(value: unknown, key: string): string[] {
  if (typeof value !== 'object' || value === null) return []
  const found: unknown = Object.entries(value).find(([name]) => name === key)?.[1]
  return typeof found === 'string' ? [found] : []
}
