import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type * as v from 'valibot'
import { type Tables, TablesSchema } from '../../domain/derived/tables.ts'
import type { Fault } from './fault.ts'
import { readYamlFile, type YamlFile } from './read-yaml-file.ts'

/** The product's own tables stand in for a table that a content folder does not have. */
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
  const { categories, sources, alsoSearch, roadmap, sharedHosts, site, tasks, searchWords } =
    TablesSchema.entries
  const read = <Schema extends v.GenericSchema>(name: string, schema: Schema) => {
    const file = `tables/${name}.yaml`
    return readYamlFile(existsSync(join(contentDir, file)) ? contentDir : OWN_CONTENT, file, schema)
  }
  const files = {
    categories: read('categories', categories),
    sources: read('sources', sources),
    alsoSearch: read('also_search', alsoSearch),
    roadmap: read('roadmap', roadmap),
    sharedHosts: read('shared_hosts', sharedHosts),
    site: read('site', site),
    tasks: read('tasks', tasks),
    searchWords: read('search-words', searchWords),
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
  const { categories, sources, alsoSearch, roadmap, sharedHosts, site, tasks, searchWords } = files
  if (categories.value === null || sources.value === null || alsoSearch.value === null) return null
  if (roadmap.value === null || site.value === null || tasks.value === null) return null
  if (sharedHosts.value === null || searchWords.value === null) return null
  return {
    categories: categories.value,
    sources: sources.value,
    alsoSearch: alsoSearch.value,
    roadmap: roadmap.value,
    sharedHosts: sharedHosts.value,
    site: site.value,
    tasks: tasks.value,
    searchWords: searchWords.value,
  }
}
