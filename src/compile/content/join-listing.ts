import { toWhole, type WrittenFacts } from '../../domain/listing/listing-facts.ts'
import type { UrlRules } from '../../domain/listing/target-url.ts'
import { joinFacts } from '../../domain/sources/join-facts.ts'
import type { NamedRow, SourceFacts } from '../../domain/sources/source-row.ts'
import { KEY } from '../files/build-cache.ts'
import { digestOf } from '../files/release-writer.ts'
import { createLineFinder } from './parse-yaml.ts'
import {
  createWrittenParser,
  type ListingFile,
  type PartialListing,
  toFault,
  type WrittenFile,
} from './read-listings.ts'
import { type Fault, faultOf } from './schema-faults.ts'

/** The listing if it is valid, else its valid fields. */
export interface ParsedListing {
  listing: ListingFile | null
  partial: PartialListing | null
  faults: Fault[]
}

/** @param rows the sources' facts on it, in the order of precedence */
export function joinListing(written: WrittenFile, rows: readonly NamedRow[]): ParsedListing {
  const { id, file, yaml } = written
  const facts = joinWith(written.facts, rows)
  const { whole, lacking = [] } = toWhole(facts)
  if (whole === undefined) {
    const partial = { id, file, facts, yaml, lacks: lacking }
    return { listing: null, partial, faults: toLackFaults(partial, rows) }
  }
  const said = [written.digest, rows.map(({ row }) => [row.facts, row.added])]
  const digest = rows.length === 0 ? written.digest : digestOf(JSON.stringify(said), KEY)
  return { listing: { ...written, facts: whole, digest }, partial: null, faults: [] }
}

/** A listing is as old as its oldest source says, where people give no date. */
function joinWith(written: WrittenFacts, rows: readonly NamedRow[]): WrittenFacts {
  if (rows.length === 0) return written
  const [first] = rows.flatMap(({ row }) => row.added ?? []).sort()
  const { sources, added, ...joined } = joinFacts(
    written,
    rows.map(({ row }) => row.facts),
  )
  // At the end, as in a file: a content hash must not depend on who named them.
  return { ...joined, sources, added: added ?? first }
}

/** Required fields that this listing lacks. */
export function toLackFaults(
  { file, facts, yaml, lacks = [] }: PartialListing,
  rows: readonly NamedRow[],
): Fault[] {
  const unsaid = 'no facts: expected some in the file, or a row of a source for this listing'
  if (rows.length === 0 && facts.kind === undefined && facts.url === undefined)
    if (lacks.includes('kind') && lacks.includes('url')) return [faultOf(file, unsaid)]
  const isSaid = (field: string) =>
    rows.some(({ row }) => (field === 'added' ? row.added : readFact(row.facts, field)))
  const lineOf = createLineFinder(yaml)
  return lacks
    .filter((field) => !isSaid(field))
    .map((field) => {
      const line = lineOf([field])
      return toFault(file, { line, message: 'expected a value, got none' }, field)
    })
}

function readFact(facts: SourceFacts, field: string): unknown {
  return Object.entries(facts).find(([name]) => name === field)?.[1]
}

/** @returns a parser of listings' texts; making its schema costs more than using it. */
export function createListingParser(rules: UrlRules) {
  const parse = createWrittenParser(rules)
  return (
    entry: { id: string; file: string },
    text: string,
    rows: readonly NamedRow[] = [],
  ): ParsedListing => {
    const { written, partial, faults } = parse(entry, text)
    const joined =
      written === null
        ? { listing: null, partial, faults: partial === null ? [] : toLackFaults(partial, rows) }
        : joinListing(written, rows)
    return { ...joined, faults: [...faults, ...joined.faults] }
  }
}
