import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { type Evidence, EvidenceSchema } from '../../domain/trust/evidence.ts'
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
