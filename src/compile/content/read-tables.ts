import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type * as v from 'valibot'
import { type Tables, TablesSchema } from '../../domain/derived/tables.ts'
import type { Fault } from './fault.ts'
import { readYamlFile, type YamlFile } from './read-yaml-file.ts'

/** The product's own tables replace a table that a content folder lacks. */
const OWN_CONTENT = fileURLToPath(new URL('../../../content', import.meta.url))

export interface TableFiles {
  /** Null when a table has faults. */
  tables: Tables | null
  /** The tables that have none. */
  partial: Partial<Tables>
  faults: Fault[]
}

/** Reads `tables/*.yaml`. */
export function readTables(contentDir: string): TableFiles {
  const { entries } = TablesSchema
  const read = <Schema extends v.GenericSchema>(name: string, schema: Schema) => {
    const file = `tables/${name}.yaml`
    return readYamlFile(existsSync(join(contentDir, file)) ? contentDir : OWN_CONTENT, file, schema)
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
    tasks: read('tasks', entries.tasks),
    searchWords: read('search-words', entries.searchWords),
    foreignWords: read('foreign-words', entries.foreignWords),
  }
  const faults = Object.values(files).flatMap((file): Fault[] => file.faults)
  return { tables: toTables(files), partial: toPartial(files), faults }
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
