import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { type Tombstone, TombstoneSchema } from '../../domain/derived/tombstone.ts'
import { parseJson } from '../../domain/wire/parse-json.ts'
import { ID_PREFIXES } from '../../domain/wire/vocabulary.ts'
import type { Fault } from './fault.ts'
import { toSchemaFaults } from './schema-faults.ts'

/** Reads `tombstones/<prefix>/<slug>.json`, sorted by id. A listing that is there has none. */
export function readTombstones(
  contentDir: string,
  isListed: (id: string) => boolean,
): { tombstones: Map<string, Tombstone>; faults: Fault[] } {
  const tombstones = new Map<string, Tombstone>()
  const faults: Fault[] = []
  for (const prefix of [...ID_PREFIXES].sort()) {
    const folder = join(contentDir, 'tombstones', prefix)
    const names = existsSync(folder) ? readdirSync(folder).sort() : []
    for (const name of names.filter((each) => each.endsWith('.json'))) {
      const id = `${prefix}.${name.slice(0, -'.json'.length)}`
      const file = `tombstones/${prefix}/${name}`
      const found = readTombstone(join(folder, name), { id, file, isListed })
      if (Array.isArray(found)) faults.push(...found)
      else tombstones.set(id, found)
    }
  }
  return { tombstones, faults }
}

interface Place {
  id: string
  file: string
  isListed: (id: string) => boolean
}

function readTombstone(path: string, { id, file, isListed }: Place): Tombstone | Fault[] {
  const fault = (field: string, message: string, severity: Fault['severity'] = 'error'): Fault => ({
    file,
    line: null,
    field,
    message,
    severity,
  })
  const result = v.safeParse(TombstoneSchema, parseJson(readFileSync(path, 'utf8')))
  if (!result.success)
    return toSchemaFaults(TombstoneSchema, result.issues).map((each) =>
      fault(each.field, each.message),
    )
  if (result.output.id !== id) return [fault('id', `expected ${id}, as the file is named`)]
  // A run that was killed leaves both; the listing is what counts.
  return isListed(id)
    ? [fault('', 'this listing is there: remove its tombstone, or the listing', 'warning')]
    : result.output
}
