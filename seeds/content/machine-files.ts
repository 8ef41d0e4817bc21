import * as v from 'valibot'
import { listingIdOf } from '../../src/domain/listing/listing-id.ts'
import { isJsonObject, parseJson } from '../../src/domain/wire/parse-json.ts'

/** Files that machines keep for a listing, by the listing's own path. */
export function evidenceFileOf(listing: string): string {
  return beside(listing, 'evidence')
}

export function tombstoneFileOf(listing: string): string {
  return beside(listing, 'tombstones')
}

/** @example listingFileOf('mcp.a.b') → 'listings/mcp/a.b.md' */
export function listingFileOf(id: string): string {
  return `listings/${id.replace('.', '/')}.md`
}

export function renderJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** @returns the members of a machine's file; none of one that can't be read. */
export function membersOf(text: string | undefined): Record<string, unknown> {
  const value = text === undefined ? undefined : parseJson(text)
  return isJsonObject(value) ? { ...value } : {}
}

/**
 * The tombstone of a listing: where it moved, or its content when its source withdrew it, so that a
 * return restores it.
 */
export function renderTombstone(
  file: string,
  {
    evidence,
    ...about
  }: { at: string; by: string; evidence?: string | undefined } & (
    | { replaced_by: string }
    | { listing: string }
  ),
): string {
  return renderJson({
    id: listingIdOf(file),
    reason: 'listing' in about ? 'withdrawn' : 'duplicate',
    ...about,
    ...(evidence !== undefined && { evidence: membersOf(evidence) }),
  })
}

function beside(listing: string, folder: string): string {
  return listing.replace(/^listings\//, `${folder}/`).replace(/\.md$/, '.json')
}

/** @throws Error naming file, place, and what would be right: `advice`, or the schema's message */
export function parseAs<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  file: string,
  advice?: string,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, value)
  if (result.success) return result.output
  const [issue] = result.issues
  throw new Error(`${file} ${v.getDotPath(issue) ?? 'file'}: ${advice ?? issue.message}`)
}
