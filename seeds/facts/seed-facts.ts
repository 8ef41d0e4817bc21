import * as v from 'valibot'
import { normalizePayout } from '../../src/domain/listing/caip-account.ts'
import {
  createListingFactsSchema,
  type ListingFacts,
} from '../../src/domain/listing/listing-facts.ts'
import { isListingId } from '../../src/domain/listing/listing-id.ts'
import { eachOnce } from '../../src/domain/listing/offers.ts'
import { findOperationFaults } from '../../src/domain/operation/operation-faults.ts'
import type { SkillFacts } from '../../src/domain/sources/skill-facts.ts'
import {
  type Deprecated,
  MAX_PAYEES,
  type NamedPayee,
  type SourceField,
} from '../../src/domain/sources/source-row.ts'
import type { IdPrefix } from '../../src/domain/wire/vocabulary.ts'

type Required = 'name' | 'kind' | 'url' | 'summary' | 'categories' | 'sources'

/** A source's facts on a listing; a field it has nothing for is absent. */
export type SeedFacts = Pick<ListingFacts, Required> &
  Partial<Pick<ListingFacts, Exclude<SourceField, Required>>>

/** Members of an evidence file, by name, from a source. */
export type SeedEvidence = Readonly<Record<string, unknown>>

/** A listing as a source describes it, before it is compared with existing listings. */
export interface Seed {
  /** Its key in the source; never changes. */
  key: string
  prefix: IdPrefix
  slug: string
  facts: SeedFacts
  /** Day it was first published, `2026-11-20`, or null where the source doesn't say. */
  published: string | null
  /** The id of the listing it belongs to, where it only adds to an existing one. */
  into?: string
  /** How many of the source's rows it was made from. */
  rows: number
  /** Members of the listing's evidence file. */
  evidence?: SeedEvidence
  /** For a kit: its contents and requirements. */
  skill?: SkillFacts
  /** Facts used to judge it that no file keeps: words that remain their writer's. */
  withheld?: readonly SourceField[]
  /** The payees that its source names, each once: none makes a payment count. */
  payees?: readonly NamedPayee[]
  /** Its source advises against it. */
  deprecated?: Deprecated
  /** Words in the source's text that a reviewer should see first. */
  suspicious?: string | undefined
}

/** Accounts (CAIP-10) that a source names, each once and sorted. */
export function toPayees(accounts: readonly string[]): NamedPayee[] {
  const sorted = eachOnce(accounts, normalizePayout).sort()
  return sorted.slice(0, MAX_PAYEES).map((payee) => ({ payee }))
}

const schema = createListingFactsSchema({ allowPrivate: false })

/** @returns what keeps the facts from being a valid listing, or null. */
export function findSeedFault(seed: Pick<Seed, 'prefix' | 'slug' | 'facts'>): string | null {
  const id = `${seed.prefix}.${seed.slug}`
  if (!isListingId(id)) return `id: expected <prefix>.<slug> of at most 120 characters, got ${id}`
  const result = v.safeParse(schema, { ...seed.facts, added: '2000-01-01' })
  if (result.success) {
    const [fault] = findOperationFaults(result.output)
    return fault === undefined ? null : `${fault.path.join('.')}: ${fault.message}`
  }
  const [issue] = result.issues
  return `${v.getDotPath(issue) ?? 'listing'}: ${issue.message}`
}
