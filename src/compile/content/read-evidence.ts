import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { type Tombstone, TombstoneSchema } from '../../domain/derived/tombstone.ts'
import { type Evidence, EvidenceSchema } from '../../domain/trust/evidence.ts'
import { type Fault, faultOf, toSchemaFaults } from './schema-faults.ts'

interface MachineFiles<Value> {
  /** Sorted by id. */
  values: Map<string, Value>
  faults: Fault[]
}

/**
 * Reads `evidence/<prefix>/<slug>.json`; evidence without a listing is an error.
 *
 * @param listed ids, including those of files with errors, whose evidence is fine
 */
export function readEvidence(
  contentDir: string,
  listed: ReadonlySet<string>,
): MachineFiles<Evidence> {
  return readFolder(contentDir, 'evidence', EvidenceSchema, ({ id, file }) => {
    const listing = file.replace(/^evidence\//, 'listings/').replace(/json$/, 'md')
    const message = `expected evidence of a listing that exists; there is no ${listing}`
    return listed.has(id) ? null : faultOf(file, message)
  })
}

/** Reads `tombstones/<prefix>/<slug>.json`. An existing listing has none. */
export function readTombstones(
  contentDir: string,
  listed: ReadonlySet<string>,
): MachineFiles<Tombstone> {
  return readFolder(contentDir, 'tombstones', TombstoneSchema, ({ id, file }, value) => {
    if (value.id !== id)
      return faultOf(file, `expected ${id}, as the file is named`, { field: 'id' })
    // A run that was killed leaves both; the listing is what counts.
    const message = 'this listing is there: remove its tombstone, or the listing'
    return listed.has(id) ? faultOf(file, message, { severity: 'warning' }) : null
  })
}

interface Place {
  id: string
  file: string
}

/** @param judge finds errors in a file of valid shape */
function readFolder<Schema extends v.GenericSchema>(
  contentDir: string,
  folder: string,
  schema: Schema,
  judge: (place: Place, value: v.InferOutput<Schema>) => Fault | null,
): MachineFiles<v.InferOutput<Schema>> {
  const values = new Map<string, v.InferOutput<Schema>>()
  const faults: Fault[] = []
  for (const place of listFiles(contentDir, folder)) {
    const text = readFileSync(join(contentDir, place.file), 'utf8')
    const json = parseJson(text)
    if (json instanceof Error) {
      faults.push(faultOf(place.file, `expected valid JSON: ${json.message}`))
      continue
    }
    const result = v.safeParse(schema, json)
    const fault = result.success ? judge(place, result.output) : null
    if (fault !== null) faults.push(fault)
    else if (result.success) values.set(place.id, result.output)
    else {
      const lines = findJsonLines(text)
      for (const { path, field, message } of toSchemaFaults(schema, result.issues)) {
        const line = lines.get(String(path.at(-1))) ?? null
        faults.push(faultOf(place.file, message, { field, line }))
      }
    }
  }
  return { values, faults }
}

function listFiles(contentDir: string, folder: string): Place[] {
  const root = join(contentDir, folder)
  if (!existsSync(root)) return []
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: prefix }) =>
      readdirSync(join(root, prefix), { withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
        .map(({ name }) => ({
          id: `${prefix}.${name.slice(0, -'.json'.length)}`,
          file: `${folder}/${prefix}/${name}`,
        })),
    )
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    return error instanceof Error ? error : new Error('unreadable')
  }
}

/** The first line that each key, or text, of a file is on. */
function findJsonLines(text: string): Map<string, number> {
  const lines = new Map<string, number>()
  for (const [index, row] of text.split('\n').entries())
    for (const [, key = ''] of row.matchAll(/"((?:[^"\\]|\\.)*)"/g))
      if (!lines.has(key)) lines.set(key, index + 1)
  return lines
}
