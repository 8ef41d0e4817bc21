import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import {
  createWrittenFactsSchema,
  type ListingFacts,
  REQUIRED_FACTS,
  type WrittenFacts,
} from '../../domain/listing/listing-facts.ts'
import { isListingId } from '../../domain/listing/listing-id.ts'
import { findTextFault } from '../../domain/listing/listing-text.ts'
import type { UrlRules } from '../../domain/listing/target-url.ts'
import { ListingViewSchema } from '../../domain/views/listing-view.ts'
import { ID_PREFIXES } from '../../domain/wire/vocabulary.ts'
import { type BuildCache, KEY, noCache, setValue } from '../files/build-cache.ts'
import type { ReadFile } from '../files/code-digest.ts'
import { digestOf } from '../files/release-writer.ts'
import { MAX_FILE_BYTES, parseFrontMatter } from './parse-front-matter.ts'
import { createLineFinder, type YamlFault } from './parse-yaml.ts'
import { type Fault, faultOf, type SchemaFault, toSchemaFaults } from './schema-faults.ts'

/** A listing as people wrote it, with its shape checked. */
export interface WrittenFile {
  id: string
  /** Path from the content folder. */
  file: string
  facts: WrittenFacts
  description: string
  /** The front matter's text, to find a field's line in. */
  yaml: string
  /** Of the file's text. */
  digest: string
}

/**
 * A listing from people and sources, not yet checked against the rest of the content; its digest
 * covers all of that.
 */
export interface ListingFile extends Omit<WrittenFile, 'facts'> {
  facts: ListingFacts
}

/** Fields that are valid on their own; the others are absent. */
export type PartialFacts = { [Key in keyof ListingFacts]?: ListingFacts[Key] | undefined }

/** The valid fields of a listing: an error in one field must not hide another's. */
export interface PartialListing {
  id: string
  file: string
  facts: PartialFacts
  yaml: string
  /** Required fields that this file lacks. */
  lacks?: readonly string[]
}

export interface WrittenFiles {
  /** Sorted by id. */
  written: WrittenFile[]
  /** Files with errors, sorted by id like the valid ones. */
  broken: PartialListing[]
  faults: Fault[]
}

export interface KnownFiles {
  /** Parsed by earlier builds. */
  cache: BuildCache
  read: ReadFile
}

export const NOTHING_KNOWN: KnownFiles = { cache: noCache(), read: readFileSync }

/** Reads `listings/<prefix>/<slug>.md`, sorted by id; reports every error of every file at once. */
export function readWritten(
  contentDir: string,
  rules: UrlRules,
  { cache, read }: KnownFiles = NOTHING_KNOWN,
): WrittenFiles {
  const parse = createWrittenParser(rules)
  const written: WrittenFile[] = []
  const broken: PartialListing[] = []
  const faults: Fault[] = []
  const report = (file: string, found: readonly YamlFault[]) => {
    for (const fault of found) faults.push(toFault(file, fault))
  }
  for (const entry of listFiles(contentDir, report)) {
    const bytes = read(join(contentDir, entry.file))
    const fault = findSizeFault(bytes)
    if (fault !== null) {
      report(entry.file, [fault])
      continue
    }
    const digest = digestOf(bytes, KEY)
    const known = recall(cache, digest)
    const parsed =
      known === null
        ? parse(entry, bytes.toString())
        : { written: { ...entry, ...known, digest }, faults: [], partial: null }
    for (const fault of parsed.faults) faults.push(fault)
    if (known === null && parsed.written !== null && parsed.faults.length === 0) {
      const { facts, yaml, description } = parsed.written
      setValue(cache, digest, { facts, yaml, description })
    }
    if (parsed.written !== null) written.push(parsed.written)
    else if (parsed.partial !== null) broken.push(parsed.partial)
  }
  const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)
  return { written: written.sort(byId), broken: broken.sort(byId), faults }
}

/** The content of a file without errors, whatever its name. */
type SoundText = Pick<WrittenFile, 'facts' | 'yaml' | 'description'>

/** Parsing is most of the cost of reading: a build only parses changed files again. */
function recall(cache: BuildCache, digest: string): SoundText | null {
  const row = cache.get(digest)
  if (row === null) return null
  // JSON.parse is typed `any`; the row was written from this very type, and its bytes are verified.
  const known: SoundText = JSON.parse(row.toString())
  return known
}

/** One file written by people: its content if valid, else its valid fields. */
export interface ParsedFile {
  written: WrittenFile | null
  partial: PartialListing | null
  faults: Fault[]
}

/** Members of the full listing: those allowed in front matter are known keys of the file. */
const COMPUTED: ReadonlySet<string> = new Set(v.keyof(ListingViewSchema).options)

/** @returns a parser of files' texts; making its schema costs more than using it. */
export function createWrittenParser(rules: UrlRules) {
  const schema = createWrittenFactsSchema(rules)
  return function parse(entry: { id: string; file: string }, text: string): ParsedFile {
    const parsed = parseFrontMatter(text)
    if (!parsed.ok) {
      const faults = parsed.faults.map((fault) => toFault(entry.file, fault))
      return { written: null, partial: null, faults }
    }
    const { data, body, yaml } = parsed
    const inBody = findDescriptionFaults(text, body).map((fault) =>
      toFault(entry.file, fault, 'description'),
    )
    const result = v.safeParse(schema, data)
    if (result.success) {
      const digest = digestOf(text, KEY)
      const written = { ...entry, facts: result.output, description: body, yaml, digest }
      return { written, partial: null, faults: inBody }
    }
    const found = toSchemaFaults(schema, result.issues).map((fault) =>
      fault.isUnknownKey && COMPUTED.has(fault.field)
        ? { ...fault, message: `expected nothing: ${fault.field} is computed, never written` }
        : fault,
    )
    const lineOf = createLineFinder(yaml)
    const faults = found.map(({ path, field, message, isUnknownKey }) => {
      const line = lineOf(path, isUnknownKey)
      return toFault(entry.file, { line, message }, field)
    })
    const lacks = REQUIRED_FACTS.filter((field) => !Object.hasOwn(Object(data), field))
    const partial = { ...entry, facts: parseSound(schema, data, found), yaml, lacks }
    return { written: null, partial, faults: [...inBody, ...faults] }
  }
}

export function toFault(file: string, { line, message }: YamlFault, field = ''): Fault {
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

/** A symbolic link could bring any file of the machine into the build: links are refused. */
function listFiles(contentDir: string, report: Report): { id: string; file: string }[] {
  const root = join(contentDir, 'listings')
  const files: { id: string; file: string }[] = []
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
    : 'expected a slug of lower-case letters, digits and single . _ - between them, at most 120 characters with its prefix'
}

function findSizeFault({ length }: Uint8Array): YamlFault | null {
  if (length <= MAX_FILE_BYTES) return null
  return { line: 1, message: `expected at most ${MAX_FILE_BYTES} bytes, got ${length}` }
}
