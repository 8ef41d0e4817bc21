import { hash } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import matter from 'gray-matter'
import * as v from 'valibot'
import {
  createWrittenFactsSchema,
  type ListingFacts,
  REQUIRED_FACTS,
  type WrittenFacts,
} from '../domain/listing/listing-facts.ts'
import { findTextFault, isListingId } from '../domain/listing/listing-text.ts'
import { type UrlRules, withAsciiHosts } from '../domain/listing/target-url.ts'
import { joinFacts } from '../domain/sources/join-rows.ts'
import type { NamedRow, SourceFacts } from '../domain/sources/source-row.ts'
import { ListingViewSchema } from '../domain/views/listing-view.ts'
import { ID_PREFIXES } from '../domain/wire/vocabulary.ts'
import { type Fault, faultOf, type SchemaFault, toSchemaFaults } from './faults.ts'
import { recall } from './recall.ts'
import { createLineFinder, parseYaml, type YamlFault } from './yaml.ts'

/** A listing as people wrote it, with its shape checked. */
export interface WrittenFile {
  id: string
  /** Path from the content folder. */
  file: string
  facts: WrittenFacts
  description: string
  /** The front matter's text, for finding a field's line. */
  yaml: string
  /** Digest of the file's text. */
  digest: string
}

/**
 * A listing from people and sources, not yet checked against the rest of the content; its digest
 * covers its file and its sources' rows.
 */
export interface ListingFile extends Omit<WrittenFile, 'facts'> {
  facts: ListingFacts
}

/** Fields that are valid on their own; the others are absent. */
export type PartialFacts = { [Key in keyof ListingFacts]?: ListingFacts[Key] | undefined }

/** A listing's valid fields: an error in one field must not hide another's. */
export interface PartialListing {
  id: string
  file: string
  facts: PartialFacts
  yaml: string
  /** Digest of everything the listing is made from, if it has no errors. */
  digest?: string
  /** Required fields that this file lacks. */
  lacks?: readonly string[]
}

/** Reads `listings/<prefix>/<slug>.md`, sorted by id; reports every error of every file at once. */
export function readWritten(contentDir: string, rules: UrlRules) {
  const parse = createWrittenParser(rules)
  const written: WrittenFile[] = []
  const broken: PartialListing[] = []
  const faults: Fault[] = []
  const report = (file: string, found: readonly YamlFault[]) => {
    for (const fault of found) faults.push(toFault(file, fault))
  }
  for (const entry of listFiles(contentDir, report)) {
    const bytes = readFileSync(join(contentDir, entry.file))
    const fault = findSizeFault(bytes)
    if (fault !== null) {
      report(entry.file, [fault])
      continue
    }
    const text = bytes.toString()
    const parsed = recall(entry.file, text, () => parse(entry, text))
    for (const fault of parsed.faults) faults.push(fault)
    if (parsed.listing !== null) written.push(parsed.listing)
    else if (parsed.partial !== null) broken.push(parsed.partial)
  }
  const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)
  // `broken` has the valid fields of files with errors.
  return { written: written.sort(byId), broken: broken.sort(byId), faults }
}

/** The whole listing if its file is valid; if not, its valid fields. */
interface Parsed<File> {
  listing: File | null
  partial: PartialListing | null
  faults: Fault[]
}

/** Members of the full listing. If a file has one that it may not have, the error says that it is computed. */
const COMPUTED: ReadonlySet<string> = new Set(v.keyof(ListingViewSchema).options)

/** @returns a parser for files' texts; making its schema costs more than using it */
function createWrittenParser(rules: UrlRules) {
  const schema = createWrittenFactsSchema(rules)
  return function parse(entry: { id: string; file: string }, text: string): Parsed<WrittenFile> {
    const parsed = parseFrontMatter(text)
    if (!parsed.ok)
      return { listing: null, partial: null, faults: [toFault(entry.file, parsed.fault)] }
    const { data, body, yaml } = parsed
    const inBody = findDescriptionFaults(text, body).map((fault) =>
      toFault(entry.file, fault, 'description'),
    )
    const result = v.safeParse(schema, data)
    if (result.success) {
      const digest = hash('sha256', text)
      const listing = { ...entry, facts: result.output, description: body, yaml, digest }
      return { listing, partial: null, faults: inBody }
    }
    const found = toSchemaFaults(schema, result.issues).map((fault) =>
      fault.isUnknownKey && COMPUTED.has(fault.field)
        ? { ...fault, message: `expected no ${fault.field}, because it is computed, never written` }
        : fault,
    )
    const lineOf = createLineFinder(yaml)
    const faults = found.map(({ path, field, message, isUnknownKey }) =>
      faultOf(entry.file, message, { line: lineOf(path, isUnknownKey), field }),
    )
    const lacks = REQUIRED_FACTS.filter((field) => !Object.hasOwn(Object(data), field))
    const partial = { ...entry, facts: parseSound(schema, data, found), yaml, lacks }
    return { listing: null, partial, faults: [...inBody, ...faults] }
  }
}

function toFault(file: string, { line, message }: YamlFault, field = ''): Fault {
  return faultOf(file, message, { line, field })
}

type FactsSchema = ReturnType<typeof createWrittenFactsSchema>

/** The fields without an error; an error anywhere inside a field removes the field. */
function parseSound(
  { entries }: FactsSchema,
  data: unknown,
  found: readonly SchemaFault[],
): PartialFacts {
  const faulty = new Set(found.map(({ path }) => path[0]))
  const sound = Object.entries(data ?? {}).filter(([key]) => !faulty.has(key))
  const result = v.safeParse(v.partial(v.object(entries)), Object.fromEntries(sound))
  return result.success ? result.output : {}
}

/** A description may have line breaks and tabs; deceptive characters are refused as in names. */
function findDescriptionFaults(text: string, body: string): YamlFault[] {
  const before = text.slice(0, text.lastIndexOf(body)).split('\n').length
  return body.split(/\r?\n/).flatMap((line, i) => {
    const message = findTextFault(line.replaceAll('\t', ' '))
    return message === null ? [] : [{ line: before + i, message }]
  })
}

type Report = (file: string, found: readonly YamlFault[]) => void

/** Refuses links: a symbolic link could bring any file on the machine into the build. */
function listFiles(contentDir: string, report: Report): { id: string; file: string }[] {
  const root = join(contentDir, 'listings')
  const files: { id: string; file: string }[] = []
  // In a new folder an importer may write rows before anybody has written a listing.
  if (!existsSync(root)) return files
  for (const prefix of readdirSync(root).sort()) {
    if (
      !ID_PREFIXES.some((known) => known === prefix) ||
      !lstatSync(join(root, prefix)).isDirectory()
    ) {
      report(`listings/${prefix}`, [
        { line: 1, message: `expected only the folders ${ID_PREFIXES.join(', ')}` },
      ])
      continue
    }
    for (const entry of readdirSync(join(root, prefix), { withFileTypes: true })) {
      const file = `listings/${prefix}/${entry.name}`
      const id = `${prefix}.${entry.name.replace(/\.md$/, '')}`
      const fault = findNameFault(entry.name, entry.isFile(), id)
      if (fault === null) files.push({ id, file })
      else report(file, [{ line: 1, message: fault }])
    }
  }
  return files
}

function findNameFault(name: string, isFile: boolean, id: string): string | null {
  if (!isFile) return 'expected a plain file, not a folder or a link'
  if (!name.endsWith('.md')) return 'expected a file named <slug>.md'
  return isListingId(id)
    ? null
    : 'expected a slug of lower-case letters and digits, joined by single ".", "_" or "-", of at most 120 characters with its prefix'
}

function findSizeFault({ length }: Uint8Array): YamlFault | null {
  if (length <= MAX_FILE_BYTES) return null
  return { line: 1, message: `expected at most ${MAX_FILE_BYTES} bytes, got ${length}` }
}

/** @param rows the sources' facts about the listing, in order of precedence */
export function joinListing(written: WrittenFile, rows: readonly NamedRow[]): Parsed<ListingFile> {
  const { id, file, yaml } = written
  const stated = JSON.stringify([written.digest, rows.map(({ row }) => [row.facts, row.added])])
  return recall(`joined ${file}`, stated, () => {
    const facts = joinWith(written.facts, rows)
    const { whole, lacking = [] } = toWhole(facts)
    if (whole === undefined) {
      const partial = { id, file, facts, yaml, lacks: lacking }
      return { listing: null, partial, faults: toLackFaults(partial, rows) }
    }
    const digest = rows.length === 0 ? written.digest : hash('sha256', stated)
    return { listing: { ...written, facts: whole, digest }, partial: null, faults: [] }
  })
}

/** If people give no date, a listing is as old as its oldest source says. */
function joinWith(written: WrittenFacts, rows: readonly NamedRow[]): WrittenFacts {
  if (rows.length === 0) return written
  const [first] = rows.flatMap(({ row }) => row.added ?? []).sort()
  const { sources, added, ...joined } = joinFacts(
    written,
    rows.map(({ row }) => row.facts),
  )
  // `sources` and `added` come last, as in a file: the content hash must not depend on who named them.
  return { ...joined, sources, added: added ?? first }
}

/** Errors for the required fields that this listing lacks. */
export function toLackFaults(
  { file, facts, yaml, lacks = [] }: PartialListing,
  rows: readonly NamedRow[],
): Fault[] {
  const unsaid = 'no facts: expected facts in the file, or a source row for this listing'
  if (rows.length === 0 && facts.kind === undefined && facts.url === undefined)
    if (lacks.includes('kind') && lacks.includes('url')) return [faultOf(file, unsaid)]
  const isStated = (field: string) =>
    rows.some(({ row }) => (field === 'added' ? row.added : readFact(row.facts, field)))
  const lineOf = createLineFinder(yaml)
  return lacks
    .filter((field) => !isStated(field))
    .map((field) => {
      const line = lineOf([field])
      return toFault(file, { line, message: 'expected a value, got none' }, field)
    })
}

function readFact(facts: SourceFacts, field: string): unknown {
  return Object.entries(facts).find(([name]) => name === field)?.[1]
}

/** @returns a parser for listings' texts; making its schema costs more than using it */
export function createListingParser(rules: UrlRules) {
  const parse = createWrittenParser(rules)
  return (
    entry: { id: string; file: string },
    text: string,
    rows: readonly NamedRow[] = [],
  ): Parsed<ListingFile> => {
    const { listing: written, partial, faults } = parse(entry, text)
    if (written === null) {
      const lacking = partial === null ? [] : toLackFaults(partial, rows)
      return { listing: null, partial, faults: [...faults, ...lacking] }
    }
    const joined = joinListing(written, rows)
    return { ...joined, faults: [...faults, ...joined.faults] }
  }
}

/**
 * Only this file uses gray-matter. Front matter is foreign text, and gray-matter runs code in `---js`,
 * whatever language is set. So the first line must be exactly `---`, every engine but our YAML refuses,
 * and options are always passed (without them its cache returns `{}` for a file that failed before).
 */
type FrontMatter =
  /** `yaml` starts at the end of the opening line, so its line numbers are the file's. */
  { ok: true; data: unknown; yaml: string; body: string } | { ok: false; fault: YamlFault }

/** Maximum size of a listing file in bytes, description included. */
export const MAX_FILE_BYTES = 65_536

export function parseFrontMatter(text: string): FrontMatter {
  const fault = findFileFault(text)
  if (fault !== null) return { ok: false, fault }
  let yaml = ''
  let inYaml: YamlFault | undefined
  const refuse = () => {
    throw new Error('expected YAML front matter')
  }
  const file = matter(text, {
    language: 'yaml',
    engines: {
      yaml: (source) => {
        yaml = source
        const result = parseYaml(source)
        if (!result.ok) inYaml = result.fault
        // gray-matter needs an object; any other content is refused below.
        return result.ok && typeof result.value === 'object' && result.value !== null
          ? result.value
          : {}
      },
      javascript: refuse,
      js: refuse,
      json: refuse,
      coffee: refuse,
    },
  })
  if (inYaml !== undefined) return { ok: false, fault: inYaml }
  if (yaml.trim() === '') {
    const message = 'expected front matter between two lines of ---'
    return { ok: false, fault: { line: 1, message } }
  }
  return { ok: true, data: withAsciiHosts(file.data), yaml, body: file.content.trim() }
}

/** Characters that no file may have, and what would be right. */
const REFUSED: readonly (readonly [character: string, message: string])[] = [
  ['\ufeff', 'expected no byte order mark: save the file as UTF-8 without BOM'],
  ['\u0000', 'expected text, got a NUL character'],
  ['\ufffd', 'expected UTF-8 text'],
  ['\r', 'expected lines that end with LF, got CR: save the file with LF (Unix) line ends'],
]

function findFileFault(text: string): YamlFault | null {
  for (const [character, message] of REFUSED) {
    const at = text.indexOf(character)
    if (at !== -1) return { line: text.slice(0, at).split('\n').length, message }
  }
  const first = text.split('\n', 1)[0] ?? ''
  const got = JSON.stringify(first.slice(0, 40))
  if (first !== '---')
    return { line: 1, message: `expected the first line to be exactly ---, got ${got}` }
  return /\n---[ \t]*(?:\n|$)/.test(text)
    ? null
    : { line: 1, message: 'expected a closing line of --- after the front matter' }
}

/** @returns the listing, or the required facts that are missing */
function toWhole(facts: WrittenFacts) {
  const { name, kind, url, summary, sources, added } = facts
  if (
    name === undefined ||
    kind === undefined ||
    url === undefined ||
    summary === undefined ||
    sources === undefined ||
    sources.length === 0 ||
    added === undefined
  )
    return { lacking: REQUIRED_FACTS.filter((field) => !facts[field]?.length) }
  return { whole: { ...facts, name, kind, url, summary, sources, added } satisfies ListingFacts }
}
