import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import type { UrlRules } from '../../domain/listing/target-url.ts'
import {
  createSourceFileSchema,
  type NamedRow,
  type SourceFile,
} from '../../domain/sources/source-row.ts'
import { parseJson } from '../../domain/wire/parse-json.ts'
import { type BuildCache, KEY, noCache, setValue } from '../files/build-cache.ts'
import { digestOf } from '../files/release-writer.ts'
import { type Fault, faultOf, toSchemaFaults } from './schema-faults.ts'

export interface SourceFiles {
  /** By importer, sorted; files with errors are absent. */
  files: Map<string, SourceFile>
  faults: Fault[]
}

/** @example sourceFileOf('mpp') → 'sources/mpp/rows.json' */
export function sourceFileOf(importer: string): string {
  return `sources/${importer}/rows.json`
}

/** The last output of each importer: `sources/<importer>/rows.json`. Links are not followed. */
export function readSources(
  contentDir: string,
  rules: UrlRules,
  cache: BuildCache = noCache(),
): SourceFiles {
  const root = join(contentDir, 'sources')
  const read: SourceFiles = { files: new Map(), faults: [] }
  const names = existsSync(root) ? readdirSync(root).sort() : []
  // A run's lock file is next to them.
  const importers = names.filter((name) => /^[a-z0-9][a-z0-9-]*$/.test(name))
  for (const importer of importers) {
    const file = sourceFileOf(importer)
    const path = join(contentDir, file)
    if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) continue
    const bytes = readFileSync(path)
    const key = digestOf(`sources ${JSON.stringify(rules)} ${digestOf(bytes, KEY)}`, KEY)
    const known = cache.get(key)
    // JSON.parse is typed `any`; the row was written from this very type, and its bytes are verified.
    if (known !== null) read.files.set(importer, JSON.parse(known.toString()))
    else parseFile(importer, { file, text: bytes.toString(), rules, read })
    const parsed = read.files.get(importer)
    if (known === null && parsed !== undefined) setValue(cache, key, parsed)
  }
  return read
}

interface Parsed {
  file: string
  text: string
  rules: UrlRules
  read: SourceFiles
}

function parseFile(importer: string, { file, text, rules, read }: Parsed): void {
  const schema = createSourceFileSchema(rules)
  const result = v.safeParse(schema, parseJson(text))
  if (result.success) read.files.set(importer, result.output)
  else
    for (const { field, message } of toSchemaFaults(schema, result.issues))
      read.faults.push(faultOf(file, message, { field }))
}

/** Every row of every source. */
export function rowsOf(files: ReadonlyMap<string, SourceFile>): NamedRow[] {
  return [...files].flatMap(([importer, { rows }]) =>
    Object.entries(rows).map(([key, row]) => ({ importer, key, row })),
  )
}
