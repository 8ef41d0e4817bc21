import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Tables } from '../../domain/derived/tables.ts'
import type { Tombstone } from '../../domain/derived/tombstone.ts'
import type { ListingFacts } from '../../domain/listing/listing-facts.ts'
import { listingIdOf } from '../../domain/listing/listing-id.ts'
import type { UrlRules } from '../../domain/listing/target-url.ts'
import type { Origins } from '../../domain/sources/join-facts.ts'
import type { NamedRow } from '../../domain/sources/source-row.ts'
import type { Evidence } from '../../domain/trust/evidence.ts'
import type { Said } from '../../domain/views/listing-view.ts'
import { findNearestName } from '../../domain/wire/nearest-name.ts'
import { OperatorError } from '../../domain/wire/operator-error.ts'
import { checkAcross } from './check-content.ts'
import { joinContent } from './join-content.ts'
import { readEvidence, readTombstones } from './read-evidence.ts'
import {
  type KnownFiles,
  type ListingFile,
  NOTHING_KNOWN,
  type PartialListing,
  readWritten,
} from './read-listings.ts'
import { readSources } from './read-sources.ts'
import { type ComparePage, readCompare, readTables } from './read-tables.ts'
import { type Fault, faultOf } from './schema-faults.ts'

export interface Content {
  listings: ListingFile[]
  evidence: Map<string, Evidence>
  pages: ComparePage[]
  tables: Tables
  /** The directory's own drawing, as SVG; null where it has none. */
  mark: string | null
  /** Removed listings, by id. */
  tombstones: Map<string, Tombstone>
  /** Former content of listings that their sources withdrew, by id. */
  withdrawn: Map<string, ListingFacts>
  /** The sources' facts on listings with several of them, by id. */
  said: Map<string, Said[]>
  /** The source of each fact of listings with sources, by id. */
  origins: Map<string, Origins>
}

export interface ContentReport {
  /** Null when anything has an error: a build from half a catalogue would delist the rest. */
  content: Content | null
  faults: Fault[]
  /** The valid fields of listings, and their evidence, errors or not. */
  seen: { listings: PartialListing[]; evidence: Map<string, Evidence> }
  /** Rows of sources without a listing, in the order of precedence. */
  waiting: NamedRow[]
  counts: { listings: number; evidence: number; pages: number }
}

/**
 * Reads and checks a whole content folder.
 *
 * @param known files that were read or parsed before
 * @throws OperatorError when the folder has no `listings`.
 */
export function readContent(
  contentDir: string,
  rules: UrlRules,
  known = NOTHING_KNOWN,
): ContentReport {
  if (!existsSync(join(contentDir, 'listings')))
    throw new OperatorError(
      `CONTENT_DIR ${contentDir}: expected a content folder with a folder "listings" in it`,
    )
  const { tables, mark, partial, faults: tableFaults } = readTables(contentDir, known.cache)
  const { pages, faults: pageFaults } = readCompare(contentDir, known.cache)
  const order = (partial.sources ?? []).map(({ id }) => id)
  const parts = readParts(contentDir, { rules, known, order })
  const { listings, broken, faults: joinFaults, waiting, ...joined } = joinContent(parts)
  const { evidence, tombstones } = joined
  const all = [...listings, ...broken].sort((a, b) => (a.id < b.id ? -1 : 1))
  const across = checkAcross(all, pages, partial, tombstones)
  const faults = [
    ...findUnreadFolders(contentDir),
    ...parts.faults,
    ...joinFaults,
    ...tableFaults,
    ...pageFaults,
    ...across,
  ]
  const isSound = tables !== null && faults.every(({ severity }) => severity === 'warning')
  return {
    content: isSound ? { ...joined, listings, pages, tables, mark } : null,
    faults: faults.sort(byPlace),
    seen: { listings: all, evidence },
    waiting,
    counts: { listings: listings.length, evidence: parts.measured.size, pages: pages.length },
  }
}

interface Reading {
  rules: UrlRules
  known: KnownFiles
  /** Ids of the sources, in the order of their table. */
  order: readonly string[]
}

/** Inputs of listings: files of people, files of sources, and measurements. */
function readParts(contentDir: string, { rules, known, order }: Reading) {
  const files = readWritten(contentDir, rules, known)
  const seen = new Set([
    ...files.written.map(({ id }) => id),
    ...files.faults.map(({ file }) => listingIdOf(file)),
  ])
  const evidence = readEvidence(contentDir, seen)
  const tombstones = readTombstones(contentDir, seen)
  const sources = readSources(contentDir, rules, known.cache)
  return {
    ...files,
    sources: sources.files,
    order,
    measured: evidence.values,
    tombstones: tombstones.values,
    faults: [files, sources, evidence, tombstones].flatMap(({ faults }) => faults),
  }
}

function byPlace(a: Fault, b: Fault): number {
  return a.file === b.file ? (a.line ?? 0) - (b.line ?? 0) : a.file < b.file ? -1 : 1
}

/** Folders of the content; `schema` is for editors, `seeds` and `review` for people who import. */
const FOLDERS = [
  'listings',
  'sources',
  'evidence',
  'compare',
  'tables',
  'prose',
  'schema',
  'tombstones',
  'review',
]

/** An unknown folder is usually a misspelt one: its files would be silently ignored. */
function findUnreadFolders(contentDir: string): Fault[] {
  return readdirSync(contentDir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .filter(({ name }) => !FOLDERS.includes(name))
    .map(({ name }) => {
      const nearest = findNearestName(name, FOLDERS)
      const hint = nearest === null ? '' : `; did you mean ${nearest}?`
      const message = `unknown folder: expected one of ${FOLDERS.join(', ')}${hint}`
      return faultOf(name, message, { severity: 'warning' })
    })
}
