import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { ListingFacts } from '../../domain/listing/listing-facts.ts'

/**
 * What sound listing files hold, by their bytes: a build reads again only what somebody wrote. Parsing
 * is most of the cost of reading; whatever looks at more than one file is done each time.
 */
export interface ParseMemory {
  /** What a text holds that was kept in this build or an earlier one; null for any other. */
  recall(text: string): SoundText | null
  keep(text: string, parsed: SoundText): void
  /** Writes down what was asked for in this build, and forgets the rest. */
  save(): void
}

/** The parts of a listing file without faults. */
interface SoundText {
  facts: ListingFacts
  yaml: string
  description: string
}

/** Where the parts of a text are that need no parsing. */
type Kept = [facts: ListingFacts, yaml: [number, number], description: [number, number]]

/**
 * @param path of the file that keeps it; one that is damaged or of another `version` is ignored
 * @param version whatever decides how a file is read: code, packages, rules
 */
export function openParseMemory(path: string, version: string): ParseMemory {
  const earlier = readRows(path, version)
  const rows = new Map<string, string>()
  let isNew = false
  return {
    recall(text) {
      const key = hash(text)
      const row = earlier.get(key)
      if (row === undefined) return null
      rows.set(key, row)
      return toParts(text, row)
    },
    keep(text, parsed) {
      const kept = toKept(text, parsed)
      const row = JSON.stringify(kept)
      // What JSON does not bring back as it was is parsed each time.
      if (kept === null || !isDeepStrictEqual(JSON.parse(row), kept)) return
      rows.set(hash(text), row)
      isNew = true
    },
    save() {
      if (isNew || rows.size !== earlier.size) writeRows(path, version, rows)
    },
  }
}

function toKept(text: string, { facts, yaml, description }: SoundText): Kept | null {
  const yamlAt = text.indexOf(yaml)
  const descriptionAt = text.lastIndexOf(description)
  if (yamlAt === -1 || descriptionAt === -1) return null
  return [
    facts,
    [yamlAt, yamlAt + yaml.length],
    [descriptionAt, descriptionAt + description.length],
  ]
}

function toParts(text: string, row: string): SoundText {
  // JSON.parse is typed `any`; the row was written from this very type, and its bytes are verified.
  const [facts, yaml, description]: Kept = JSON.parse(row)
  const cut = ([start, end]: [number, number]) => text.slice(start, end)
  return { facts, yaml: cut(yaml), description: cut(description) }
}

/** The first line says what the others hash to. */
function readRows(path: string, version: string): Map<string, string> {
  try {
    const text = readFileSync(path, 'utf8')
    const end = text.indexOf('\n')
    const rest = text.slice(end + 1)
    if (text.slice(0, end) !== toHead(version, rest)) return new Map()
    const lines = rest.split('\n').filter((line) => line !== '')
    return new Map(lines.map((line) => [line.slice(0, HASH), line.slice(HASH)]))
  } catch {
    return new Map()
  }
}

/** Written whole before it has its name. Where nothing can be kept, the next build parses again. */
function writeRows(path: string, version: string, rows: ReadonlyMap<string, string>): void {
  try {
    const rest = [...rows].map(([key, row]) => `${key}${row}\n`).join('')
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(`${path}.next`, `${toHead(version, rest)}\n${rest}`)
    renameSync(`${path}.next`, path)
  } catch {}
}

function toHead(version: string, rest: string): string {
  return `${version} ${hash(rest)}`
}

/** Characters of a hash. */
const HASH = 64

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
