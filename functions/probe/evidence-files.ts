import { existsSync, readFileSync } from 'node:fs'
import { mkdir, open, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { type Evidence, EvidenceSchema } from '../../src/domain/trust/evidence.ts'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import type { EvidenceKeeper } from './probe-content.ts'

/** Members in the order a person reads them; a probe then changes few lines. */
const ORDER = ['measured', 'signals', 'interface', 'notices', 'probes'] as const

/** Evidence as files of a content folder. */
export function createEvidenceFiles(contentDir: string): EvidenceKeeper {
  return {
    read: async (id) => readEvidenceFile(contentDir, id),
    write: (id, evidence) => writeEvidenceFile(contentDir, id, evidence),
  }
}

/** `evidence/<prefix>/<slug>.json` of a listing. */
export function evidenceFileOf(contentDir: string, id: string): string {
  const dot = id.indexOf('.')
  return join(contentDir, 'evidence', id.slice(0, dot), `${id.slice(dot + 1)}.json`)
}

/**
 * @returns nothing where there is no file yet
 * @throws OperatorError where the file is no evidence: it is never overwritten then
 */
export function readEvidenceFile(contentDir: string, id: string): Evidence {
  const file = evidenceFileOf(contentDir, id)
  if (!existsSync(file)) return {}
  const parsed = v.safeParse(EvidenceSchema, parseJson(readFileSync(file, 'utf8')))
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  throw new OperatorError(
    `${file}: ${v.getDotPath(issue) ?? 'the file'}: ${issue.message}. It is left as it is; see npm run check.`,
  )
}

/** Replaces the file in one step: a reader sees the old evidence or the new one, whole. */
async function writeEvidenceFile(
  contentDir: string,
  id: string,
  evidence: Evidence,
): Promise<void> {
  const file = evidenceFileOf(contentDir, id)
  await mkdir(dirname(file), { recursive: true })
  const part = `${file}.part`
  const handle = await open(part, 'w')
  try {
    await handle.writeFile(toText(evidence))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(part, file)
}

/** @example toText({ probes: [] }) → '{\n  "probes": []\n}\n' */
function toText(evidence: Evidence): string {
  const sorted = Object.fromEntries(
    ORDER.flatMap((name) => (evidence[name] === undefined ? [] : [[name, evidence[name]]])),
  )
  return `${JSON.stringify(sorted, null, 2)}\n`
}
