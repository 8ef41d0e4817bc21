import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { type Tombstone, TombstoneSchema } from '../../domain/derived/tombstone.ts'
import { type Evidence, EvidenceSchema } from '../../domain/trust/evidence.ts'
import { ID_PREFIXES } from '../../domain/wire/vocabulary.ts'
import type { Fault } from './fault.ts'
import { toSchemaFaults } from './schema-faults.ts'

export interface EvidenceFiles {
  evidence: Map<string, Evidence>
  faults: Fault[]
}

/** Reads `evidence/<prefix>/<slug>.json`; evidence for a listing nobody has is a fault. */
export function readEvidence(contentDir: string, isKnown: (id: string) => boolean): EvidenceFiles {
  const evidence = new Map<string, Evidence>()
  const faults: Fault[] = []
  for (const { id, file } of listEvidence(contentDir)) {
    const report = (message: string, field = '', line: number | null = null) =>
      faults.push({ file, line, field, message, severity: 'error' })
    const text = readFileSync(join(contentDir, file), 'utf8')
    const value = parseJson(text)
    if (value instanceof Error) {
      report(`expected valid JSON: ${value.message}`)
      continue
    }
    if (!isKnown(id))
      report(
        `expected evidence of a listing that exists; there is no listings/${file.slice('evidence/'.length, -'.json'.length)}.md`,
      )
    const result = v.safeParse(EvidenceSchema, value)
    if (result.success) evidence.set(id, result.output)
    else
      for (const fault of toSchemaFaults(EvidenceSchema, result.issues))
        report(fault.message, fault.field, findJsonLine(text, String(fault.path.at(-1))))
  }
  return { evidence, faults }
}

function listEvidence(contentDir: string): { id: string; file: string }[] {
  const root = join(contentDir, 'evidence')
  if (!existsSync(root)) return []
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((folder) =>
      readdirSync(join(root, folder.name), { withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
        .map((entry) => ({
          id: `${folder.name}.${entry.name.slice(0, -'.json'.length)}`,
          file: `evidence/${folder.name}/${entry.name}`,
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

function findJsonLine(text: string, key: string): number | null {
  const index = text.split('\n').findIndex((line) => line.includes(`"${key}"`))
  return index === -1 ? null : index + 1
}

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
      if (Array.isArray(found)) for (const fault of found) faults.push(fault)
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
  const result = v.safeParse(TombstoneSchema, parseTombstone(readFileSync(path, 'utf8')))
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

function parseTombstone(text: string): unknown {
  const value = parseJson(text)
  return value instanceof Error ? undefined : value
}
