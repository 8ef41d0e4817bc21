import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type * as v from 'valibot'
import { CompareFactsSchema } from '../domain/compare/compare-view.ts'
import type { Tables } from '../domain/derived/tables.ts'
import { type Tombstone, TombstoneSchema } from '../domain/listing/listing-states.ts'
import { listingIdOf } from '../domain/listing/listing-text.ts'
import type { UrlRules } from '../domain/listing/target-url.ts'
import { createSourceFileSchema, type SourceFile } from '../domain/sources/source-row.ts'
import { type Evidence, EvidenceSchema } from '../domain/trust/evidence.ts'
import { OperatorError } from '../domain/wire/problems.ts'
import { findNearestName } from '../domain/wire/text.ts'
import { checkAcross } from './check.ts'
import { type Fault, faultOf } from './faults.ts'
import { type JoinedContent, joinContent } from './join.ts'
import { readWritten } from './listing-file.ts'
import { type ComparePage, readChecked, readTables } from './tables.ts'

export interface Content extends Omit<JoinedContent, 'broken' | 'faults' | 'waiting'> {
  pages: ComparePage[]
  tables: Tables
  /** The directory's own drawing, as SVG; null if it has none. */
  mark: string | null
}

/**
 * Reads and checks a whole content folder.
 * @param asOf the build's day: catalogue prices too old for it are dropped
 * @throws OperatorError if the folder has no `listings`
 */
export function readContent(contentDir: string, rules: UrlRules, asOf?: string) {
  if (!existsSync(join(contentDir, 'listings')))
    throw new OperatorError(
      `CONTENT_DIR ${contentDir}: expected a content folder with a folder "listings" in it`,
    )
  const { tables, mark, partial, faults: tableFaults } = readTables(contentDir)
  const { pages, faults: pageFaults } = readCompare(contentDir)
  const order = (partial.sources ?? []).map(({ id }) => id)
  const parts = readParts(contentDir, rules)
  const {
    listings,
    broken,
    faults: joinFaults,
    waiting,
    ...joined
  } = joinContent({ ...parts, order, asOf })
  const all = [...listings, ...broken].sort((a, b) => (a.id < b.id ? -1 : 1))
  const across = checkAcross(all, pages, partial, joined.tombstones)
  const faults = [
    ...findUnreadFolders(contentDir),
    ...parts.faults,
    ...joinFaults,
    ...tableFaults,
    ...pageFaults,
    ...across,
  ]
  const isSound = tables !== null && faults.every(({ severity }) => severity === 'warning')
  const content: Content | null = isSound ? { ...joined, listings, pages, tables, mark } : null
  return {
    /** Null if any file has an error: a build from half a catalogue would delist the rest. */
    content,
    faults: faults.sort(byPlace),
    /** The valid fields of listings, with errors or without. */
    seen: all,
    waiting,
    counts: { listings: listings.length, evidence: parts.measured.size, pages: pages.length },
  }
}

/** Listings' inputs: people's files, sources' files, and measurements. */
function readParts(contentDir: string, rules: UrlRules) {
  const files = readWritten(contentDir, rules)
  const seen = new Set([
    ...files.written.map(({ id }) => id),
    ...files.faults.map(({ file }) => listingIdOf(file)),
  ])
  const evidence = readEvidence(contentDir, seen)
  const tombstones = readTombstones(contentDir, seen)
  const sources = readSources(contentDir, rules)
  return {
    ...files,
    sources: sources.values,
    measured: evidence.values,
    tombstones: tombstones.values,
    faults: [files, sources, evidence, tombstones].flatMap(({ faults }) => faults),
  }
}

function byPlace(a: Fault, b: Fault): number {
  return a.file === b.file ? (a.line ?? 0) - (b.line ?? 0) : a.file < b.file ? -1 : 1
}

/** Folders in the content; `schema` is for code editors, `examples` is for copying, `review` is for whoever imports. */
const FOLDERS = [
  'listings',
  'examples',
  'sources',
  'evidence',
  'compare',
  'tables',
  'prose',
  'schema',
  'tombstones',
  'review',
]

/** An unknown folder is usually misspelt, and its files would be silently ignored. */
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

/** Valid files by the id of their listing or the importer, sorted; files with errors are absent. */
interface MachineFiles<Value> {
  values: Map<string, Value>
  faults: Fault[]
}

/**
 * Reads `evidence/<prefix>/<slug>.json`; evidence without a listing is an error.
 * @param listed ids of listings, including those whose files have errors, so that their evidence is no error
 */
export function readEvidence(
  contentDir: string,
  listed: ReadonlySet<string>,
): MachineFiles<Evidence> {
  return readFolder(contentDir, 'evidence', EvidenceSchema, ({ id, file }) => {
    const listing = file.replace(/^evidence\//, 'listings/').replace(/json$/, 'md')
    const message = `expected evidence for a listing that exists; there is no ${listing}`
    return listed.has(id) ? null : faultOf(file, message)
  })
}

/** Reads `tombstones/<prefix>/<slug>.json`. A listing that exists must have none. */
export function readTombstones(
  contentDir: string,
  listed: ReadonlySet<string>,
): MachineFiles<Tombstone> {
  return readFolder(contentDir, 'tombstones', TombstoneSchema, ({ id, file }, value) => {
    if (value.id !== id)
      return faultOf(file, `expected the id in the file's name, ${id}`, { field: 'id' })
    // A killed run may leave both files; the listing is then the valid one.
    const message = 'expected no tombstone, because the listing exists: remove one of the two'
    return listed.has(id) ? faultOf(file, message, { severity: 'warning' }) : null
  })
}

interface Place {
  id: string
  file: string
}

/** @param judge a function that finds errors in a file of valid shape */
function readFolder<Schema extends v.GenericSchema>(
  contentDir: string,
  folder: string,
  schema: Schema,
  judge: (place: Place, value: v.InferOutput<Schema>) => Fault | null,
): MachineFiles<v.InferOutput<Schema>> {
  const values = new Map<string, v.InferOutput<Schema>>()
  const faults: Fault[] = []
  for (const place of listFiles(contentDir, folder)) {
    const read = readChecked(join(contentDir, place.file), { file: place.file, schema })
    const fault = read.value === null ? null : judge(place, read.value)
    for (const found of fault === null ? read.faults : [fault]) faults.push(found)
    if (read.value !== null && fault === null) values.set(place.id, read.value)
  }
  return { values, faults }
}

function listFiles(contentDir: string, folder: string): Place[] {
  const root = join(contentDir, folder)
  if (!existsSync(root)) return []
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: prefix }) =>
      readdirSync(join(root, prefix), { withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
        .map(({ name }) => ({
          id: `${prefix}.${name.slice(0, -'.json'.length)}`,
          file: `${folder}/${prefix}/${name}`,
        })),
    )
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** @example sourceFileOf('mpp') → 'sources/mpp/rows.json' */
export function sourceFileOf(importer: string): string {
  return `sources/${importer}/rows.json`
}

/** Each importer's last output: `sources/<importer>/rows.json`. Links are not followed. */
export function readSources(contentDir: string, rules: UrlRules): MachineFiles<SourceFile> {
  const root = join(contentDir, 'sources')
  const schema = createSourceFileSchema(rules)
  const read: MachineFiles<SourceFile> = { values: new Map(), faults: [] }
  // Importers may leave a lock file next to the folders.
  const names = existsSync(root) ? readdirSync(root).sort() : []
  for (const importer of names.filter((name) => /^[a-z0-9][a-z0-9-]*$/.test(name))) {
    const file = sourceFileOf(importer)
    if (!lstatSync(join(contentDir, file), { throwIfNoEntry: false })?.isFile()) continue
    const { value, faults } = readChecked(join(contentDir, file), { file, schema })
    if (value !== null) read.values.set(importer, value)
    for (const fault of faults) read.faults.push(fault)
  }
  return read
}

/** Reads `compare/<slug>.yaml`, sorted by slug. */
function readCompare(contentDir: string): { pages: ComparePage[]; faults: Fault[] } {
  const root = join(contentDir, 'compare')
  const pages: ComparePage[] = []
  const faults: Fault[] = []
  for (const name of existsSync(root) ? readdirSync(root).sort() : []) {
    const file = `compare/${name}`
    if (!/^[a-z0-9]+(?:-[a-z0-9]+)*\.yaml$/.test(name)) {
      faults.push(faultOf(file, 'expected a file named <slug>.yaml in lower case'))
      continue
    }
    const { value, faults: found } = readChecked(join(root, name), {
      file,
      schema: CompareFactsSchema,
    })
    for (const fault of found) faults.push(fault)
    if (value !== null) pages.push({ slug: name.slice(0, -'.yaml'.length), file, facts: value })
  }
  return { pages, faults }
}
