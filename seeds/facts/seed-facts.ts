import * as v from 'valibot'
import {
  createListingFactsSchema,
  type ListingFacts,
} from '../../src/domain/listing/listing-facts.ts'
import { isListingId } from '../../src/domain/listing/listing-id.ts'
import type { IdPrefix } from '../../src/domain/wire/vocabulary.ts'

/** The front matter an importer writes and keeps up to date; every other key is people's. */
export const OWNED_FIELDS = ['name', 'url', 'summary', 'categories', 'invoke', 'sources'] as const
export type OwnedField = (typeof OWNED_FIELDS)[number]

export type SeedFacts = Pick<ListingFacts, OwnedField | 'kind'>

/** A listing as a source describes it, before it is held against what is listed already. */
export interface Seed {
  /** What the source calls it; never changes. */
  key: string
  prefix: IdPrefix
  slug: string
  facts: SeedFacts
  /** Day it was first published, `2026-11-20`, or null where the source doesn't tell. */
  published: string | null
}

const schema = createListingFactsSchema({ allowPrivate: false })

/** @returns what keeps the facts from being a valid listing, or null. */
export function findSeedFault(seed: Seed): string | null {
  const id = `${seed.prefix}.${seed.slug}`
  if (!isListingId(id)) return `id: expected <prefix>.<slug> of at most 120 characters, got ${id}`
  const result = v.safeParse(schema, { ...seed.facts, added: '2000-01-01' })
  if (result.success) return null
  const [issue] = result.issues
  return `${v.getDotPath(issue) ?? 'listing'}: ${issue.message}`
}

/** The ways to call a listing, as comparable text: two listings that share one are the same service. */
export function endpointsOf(facts: Pick<ListingFacts, 'invoke'>): string[] {
  return facts.invoke.map((entry) =>
    entry.kind === 'mcp'
      ? `remote ${normalizeRemote(entry.url)}`
      : `package ${entry.registry} ${entry.identifier.toLowerCase()}`,
  )
}

function normalizeRemote(text: string): string {
  const url = URL.parse(text)
  if (url === null) return text
  return `${url.host}${url.pathname.replace(/\/+$/, '')}${url.search}`
}
