import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import { type CompareFacts, CompareFactsSchema } from '../../domain/compare/compare-facts.ts'
import { type Tables, TablesSchema } from '../../domain/derived/tables.ts'
import { type Fault, faultOf } from './fault.ts'
import { findYamlKeyLine, findYamlLine, parseYaml } from './parse-yaml.ts'
import { toSchemaFaults } from './schema-faults.ts'

/** The product's own tables replace a table that a content folder lacks. */
const OWN_CONTENT = fileURLToPath(new URL('../../../content', import.meta.url))

/** Files of tables that are not named like their table. */
const FILES: Readonly<Record<string, string>> = {
  searchWords: 'search-words',
  foreignWords: 'foreign-words',
}

export type PartialTables = { [Name in keyof Tables]?: Tables[Name] | undefined }

export interface TableFiles {
  /** Null when a table has faults. */
  tables: Tables | null
  /** The tables that have none. */
  partial: PartialTables
  faults: Fault[]
}

/** Reads `tables/*.yaml`. */
export function readTables(contentDir: string): TableFiles {
  const files = Object.entries(TablesSchema.entries).map(([table, schema]) => {
    const name = FILES[table] ?? table.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    const file = `tables/${name}.yaml`
    const root = existsSync(join(contentDir, file)) ? contentDir : OWN_CONTENT
    return { table, ...readYamlFile(root, file, schema) }
  })
  const sound = files.flatMap(({ table, raw, faults }) =>
    faults.length === 0 ? [[table, raw] as const] : [],
  )
  const partial = v.parse(v.partial(TablesSchema), Object.fromEntries(sound))
  const faults = files.flatMap((file) => file.faults)
  return { tables: isWhole(partial) ? partial : null, partial, faults }
}

function isWhole(partial: PartialTables): partial is Tables {
  return Object.keys(TablesSchema.entries).every((name) => Object.hasOwn(partial, name))
}

export interface ComparePage {
  slug: string
  file: string
  facts: CompareFacts
}

/** Reads `compare/<slug>.yaml`, sorted by slug. */
export function readCompare(contentDir: string): { pages: ComparePage[]; faults: Fault[] } {
  const root = join(contentDir, 'compare')
  const pages: ComparePage[] = []
  const faults: Fault[] = []
  for (const name of existsSync(root) ? readdirSync(root).sort() : []) {
    const file = `compare/${name}`
    if (!/^[a-z0-9]+(?:-[a-z0-9]+)*\.yaml$/.test(name)) {
      faults.push(faultOf(file, 'expected a file named <slug>.yaml in lower case'))
      continue
    }
    const { value, faults: found } = readYamlFile(contentDir, file, CompareFactsSchema)
    for (const fault of found) faults.push(fault)
    if (value !== null) pages.push({ slug: name.slice(0, -'.yaml'.length), file, facts: value })
  }
  return { pages, faults }
}

/** One YAML file of the content, held against its schema; `raw` is what it says as it stands. */
function readYamlFile<Schema extends v.GenericSchema>(root: string, file: string, schema: Schema) {
  const text = readFileSync(join(root, file), 'utf8')
  const parsed = parseYaml(text)
  if (!parsed.ok) {
    const faults = parsed.faults.map(({ line, message }) => faultOf(file, message, { line }))
    return { raw: null, value: null, faults }
  }
  const raw = parsed.value
  const result = v.safeParse(schema, raw)
  if (result.success) return { raw, value: result.output, faults: [] }
  const faults = toSchemaFaults(schema, result.issues).map(
    ({ path, field, message, isUnknownKey }) => {
      const line = isUnknownKey ? findYamlKeyLine(text, path) : findYamlLine(text, path)
      return faultOf(file, message, { line, field })
    },
  )
  return { raw, value: null, faults }
}
