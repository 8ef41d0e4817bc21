import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import { type Tables, TablesSchema } from '../../domain/derived/tables.ts'
import type { Fault } from './fault.ts'
import { readYamlFile, type YamlFile } from './read-yaml-file.ts'

/** What the software knows of languages, hosts and itself; a content folder may have its own. */
const OWN_CONTENT = fileURLToPath(new URL('../../../content', import.meta.url))

const KNOWLEDGE = new Set([
  'roadmap',
  'shared_hosts',
  'cost_of_cheating',
  'search-words',
  'foreign-words',
])

const MAX_MARK_BYTES = 16_384
/** It is served from our own origin: it may run nothing and load nothing. */
const ACTIVE_SVG =
  /<script|<foreignObject|<!ENTITY|\son\w+\s*=|(?:href|src)\s*=\s*["'](?!#)|url\((?!['"]?#)/i

export interface TableFiles {
  /** Null when a table has faults. */
  tables: Tables | null
  /** The tables that have none. */
  partial: Partial<Tables>
  /** The directory's own drawing, as SVG; null where it has none. */
  mark: string | null
  faults: Fault[]
}

/** Reads `tables/*.yaml`. What editors wrote for one directory is never another's: without a table there are no rows. */
export function readTables(contentDir: string): TableFiles {
  const { entries } = TablesSchema
  const read = <Schema extends v.GenericSchema>(name: string, schema: Schema) => {
    const file = `tables/${name}.yaml`
    if (existsSync(join(contentDir, file))) return readYamlFile(contentDir, file, schema)
    return KNOWLEDGE.has(name)
      ? readYamlFile(OWN_CONTENT, file, schema)
      : toEmptyTable(file, schema)
  }
  const files = {
    categories: read('categories', entries.categories),
    sources: read('sources', entries.sources),
    alsoSearch: read('also_search', entries.alsoSearch),
    roadmap: read('roadmap', entries.roadmap),
    sharedHosts: read('shared_hosts', entries.sharedHosts),
    independentOperators: read('independent_operators', entries.independentOperators),
    costOfCheating: read('cost_of_cheating', entries.costOfCheating),
    site: read('site', entries.site),
    policies: read('policies', entries.policies),
    tasks: read('tasks', entries.tasks),
    searchWords: read('search-words', entries.searchWords),
    foreignWords: read('foreign-words', entries.foreignWords),
  }
  const mark = readMark(contentDir, files.site.value?.mark)
  const faults = [...Object.values(files), mark].flatMap((file): Fault[] => file.faults)
  return { tables: toTables(files), partial: toPartial(files), mark: mark.svg, faults }
}

/** @returns a fault for the one table that nothing can be built without: the directory's name. */
function toEmptyTable<Schema extends v.GenericSchema>(
  file: string,
  schema: Schema,
): YamlFile<v.InferOutput<Schema>> {
  const empty = v.safeParse(schema, [])
  if (empty.success) return { value: empty.output, faults: [] }
  const message = 'expected this file: it names the directory; `npm run new -- <folder>` writes one'
  return { value: null, faults: [{ file, line: null, field: '', message, severity: 'error' }] }
}

/** The drawing that `mark` of the site table names; null without one. */
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
  const message = `expected an SVG of at most ${MAX_MARK_BYTES} bytes without scripts and without addresses`
  return { svg: null, faults: [{ file, line: null, field: '', message, severity: 'error' }] }
}

function toPartial(files: Files): Partial<Tables> {
  return Object.fromEntries(
    Object.entries(files).flatMap(([name, { value }]) => (value === null ? [] : [[name, value]])),
  )
}

type Files = { [Name in keyof Tables]: YamlFile<Tables[Name]> }

function toTables(files: Files): Tables | null {
  const partial = toPartial(files)
  return isWhole(partial) ? partial : null
}

function isWhole(partial: Partial<Tables>): partial is Tables {
  return Object.keys(TablesSchema.entries).every((name) => Object.hasOwn(partial, name))
}
