import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import type { CompareFacts } from '../domain/compare/compare-view.ts'
import { type Tables, TablesSchema } from '../domain/derived/tables.ts'
import { type Fault, faultOf, toSchemaFaults } from './faults.ts'
import { recall } from './recall.ts'
import { createLineFinder, parseYaml } from './yaml.ts'

/** Tables about languages, hosts and the software; a content folder may have its own. */
const OWN_CONTENT = fileURLToPath(new URL('../../content', import.meta.url))

const KNOWLEDGE = new Set(['roadmap', 'shared_hosts', 'marks', 'search-words', 'foreign-words'])

const MAX_MARK_BYTES = 16_384
/** The drawing is served from our own origin, so it must not run or load anything. */
const ACTIVE_SVG =
  /<script|<foreignObject|<!ENTITY|\son\w+\s*=|(?:href|src)\s*=\s*["'](?!#)|url\((?!['"]?#)/i

/** Names of files that differ from the names of their tables. */
const FILES: Readonly<Record<string, string>> = {
  searchWords: 'search-words',
  foreignWords: 'foreign-words',
  taskWords: 'task-words',
  taskQuestions: 'task-questions',
}

export type PartialTables = { [Name in keyof Tables]?: Tables[Name] | undefined }

/** Reads `tables/*.yaml`. A missing table has no rows: one directory never uses another's words. */
export function readTables(contentDir: string) {
  const files = Object.entries(TablesSchema.entries).map(([table, schema]) => {
    const name = toTableFile(table)
    const file = `tables/${name}.yaml`
    if (existsSync(join(contentDir, file)))
      return { table, ...readChecked(join(contentDir, file), { file, schema }) }
    const isKnown = KNOWLEDGE.has(name)
    return {
      table,
      ...(isKnown ? readChecked(join(OWN_CONTENT, file), { file, schema }) : toEmpty(file, schema)),
    }
  })
  const sound = files.flatMap(({ table, value, faults }) =>
    faults.length === 0 ? [[table, value] as const] : [],
  )
  // Each value was parsed by its own table's schema.
  const partial = Object.fromEntries(sound) as PartialTables
  const mark = readMark(contentDir, partial.site?.mark)
  const faults = [...files, mark].flatMap((file) => file.faults)
  // `tables` is null if a table has errors; `partial` has the tables without errors.
  return { tables: isComplete(partial) ? partial : null, partial, mark: mark.svg, faults }
}

/** @example toTableFile('notListed') → 'not_listed' */
export function toTableFile(table: string): string {
  return FILES[table] ?? table.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** A build requires only one table: the one with the directory's name. */
function toEmpty(file: string, schema: v.GenericSchema) {
  const none = [{}, []].map((rows) => v.safeParse(schema, rows)).find(({ success }) => success)
  const message =
    'expected this file, which names the directory; `npm run new -- <folder>` writes one'
  return { value: none?.output, faults: none === undefined ? [faultOf(file, message)] : [] }
}

/** The drawing named by `mark` in the site table; null if there is none. */
function readMark(
  contentDir: string,
  mark: string | undefined,
): { svg: string | null; faults: Fault[] } {
  if (mark === undefined) return { svg: null, faults: [] }
  const file = join('tables', mark)
  const path = join(contentDir, file)
  const svg = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const isSafe = svg.includes('<svg') && svg.length <= MAX_MARK_BYTES && !ACTIVE_SVG.test(svg)
  if (isSafe) return { svg, faults: [] }
  const message = `expected an SVG of at most ${MAX_MARK_BYTES} bytes, with no scripts, links or URLs, got ${svg === '' ? 'no file' : 'another file'}`
  return { svg: null, faults: [faultOf(file, message)] }
}

function isComplete(partial: PartialTables): partial is Tables {
  return Object.keys(TablesSchema.entries).every((name) => Object.hasOwn(partial, name))
}

export interface ComparePage {
  slug: string
  file: string
  facts: CompareFacts
}

/** One content file, JSON or YAML by its name, checked against its schema. */
export function readChecked<Schema extends v.GenericSchema>(
  path: string,
  { file, schema }: { file: string; schema: Schema },
) {
  const text = readFileSync(path, 'utf8')
  return recall(file, text, () => judge(text, file, schema))
}

/** `value` is null if the file has errors. */
function judge<Schema extends v.GenericSchema>(text: string, file: string, schema: Schema) {
  const parsed = file.endsWith('.json') ? parseJsonText(text) : parseYaml(text)
  if (!parsed.ok) {
    const { line, message } = parsed.fault
    return { value: null, faults: [faultOf(file, message, { line })] }
  }
  const result = v.safeParse(schema, parsed.value)
  if (result.success) return { value: result.output, faults: [] }
  const lineOf = createLineFinder(text)
  const faults = toSchemaFaults(schema, result.issues).map(
    ({ path, field, message, isUnknownKey }) =>
      faultOf(file, message, { line: lineOf(path, isUnknownKey), field }),
  )
  return { value: null, faults }
}

function parseJsonText(text: string) {
  try {
    return { ok: true as const, value: JSON.parse(text) }
  } catch (error) {
    const message = `expected valid JSON: ${error instanceof Error ? error.message : error}`
    return { ok: false as const, fault: { line: null, message } }
  }
}
