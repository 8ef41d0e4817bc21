import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type CompareFacts, CompareFactsSchema } from '../../domain/compare/compare-row.ts'
import type { Fault } from './fault.ts'
import { readYamlFile } from './read-yaml-file.ts'

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
      faults.push({
        file,
        line: null,
        field: '',
        message: 'expected a file named <slug>.yaml in lower case',
        severity: 'error',
      })
      continue
    }
    const { value, faults: found } = readYamlFile(contentDir, file, CompareFactsSchema)
    for (const fault of found) faults.push(fault)
    if (value !== null) pages.push({ slug: name.slice(0, -'.yaml'.length), file, facts: value })
  }
  return { pages, faults }
}
