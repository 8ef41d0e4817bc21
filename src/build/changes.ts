import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { type Gone, GoneSchema } from '../domain/listing/listing-states.ts'
import {
  type ContentHash,
  ContentHashSchema,
  type Difference,
  findDifferences,
  type LogHead,
  LogHeadSchema,
  type LogPart,
} from '../domain/sellers/change-log.ts'
import { parseJson } from '../domain/wire/json.ts'

/** The log's folder in `OUT_DIR`. */
const FOLDER = 'changes'

/** Number of rows in one part: a request reads at most two parts. */
const PART_ROWS = 1000

/** Number of rows that the log keeps. A reader who was away for longer starts from the dump. */
const KEPT_ROWS = 250_000
const KEPT_PARTS = 5000

const NOTHING: ReadonlyMap<string, ContentHash> = new Map()

/**
 * Records what changed between the release in the log's last row and the current one. So the next
 * build catches up after a killed build, and going back to an earlier release is a change like any
 * other. The caller holds the lock on `OUT_DIR`.
 * @param name the name of the release to which `current` links
 * @param bounds how many rows a part and the log keep; smaller in tests
 */
export function recordChanges(
  outDir: string,
  name: string,
  now: Date,
  bounds = { partRows: PART_ROWS, keptRows: KEPT_ROWS },
): void {
  const dir = join(outDir, FOLDER)
  const head = readHead(dir)
  if (head?.release === name) return
  // A release made by an earlier version has no `content-hashes.ndjson`.
  const data = join(outDir, 'releases', name, 'data')
  const text = readOr(join(data, 'content-hashes.ndjson'))
  if (text === null) return
  const earlier = head === null ? null : readOr(join(dir, head.hashes))
  const known = earlier === null ? null : parseRows(earlier, text)
  const after = parseRows(text, known === null ? null : earlier)
  if (after === null) return
  mkdirSync(dir, { recursive: true })
  // A log with an unknown end can't be continued; the old log's cursors lead to the dump.
  const last = head === null || known === null ? startLog() : head
  const gone = parseGone(readOr(join(data, 'gone.ndjson')) ?? '')
  const rows = findDifferences(known ?? NOTHING, after, gone)
  const next = append(dir, last, { rows, name, at: laterOf(last.at, now), bounds })
  writeWhole(dir, next.hashes, text)
  writeWhole(dir, 'head.json', JSON.stringify(next))
  removeUnnamed(dir, next)
}

function startLog(): LogHead {
  const log = randomBytes(8).toString('hex')
  const hashes = `${log}.0.hashes`
  return { version: 1, log, release: '', seq: 0, at: '', before: null, hashes, parts: [] }
}

interface Publication {
  rows: readonly Difference[]
  name: string
  at: string
  bounds: { partRows: number; keptRows: number }
}

function append(dir: string, last: LogHead, publication: Publication): LogHead {
  const { rows, name, at, bounds } = publication
  const parts: LogPart[] = []
  for (let from = 0; from < rows.length; from += bounds.partRows) {
    const first = last.seq + from + 1
    const some = rows.slice(from, from + bounds.partRows)
    const file = `${last.log}.${first}.ndjson`
    const lines = some.map((row, i) => `${JSON.stringify({ seq: first + i, at, ...row })}\n`)
    writeWhole(dir, file, lines.join(''))
    parts.push({ file, first, last: first + some.length - 1, at })
  }
  const seq = last.seq + rows.length
  return {
    ...last,
    release: name,
    seq,
    at,
    before: last.release === '' ? null : { release: last.release, seq: last.seq },
    // A new name even if nothing changed: an existing file is never written to.
    hashes: `${last.log}.${nextNumber(last, seq)}.hashes`,
    parts: keepNewest([...last.parts, ...parts], bounds.keptRows),
  }
}

/** @example after `….7.hashes` at seq 7 → 8 */
function nextNumber({ hashes }: LogHead, seq: number): number {
  return Math.max(Number(hashes.split('.')[1]) + 1, seq)
}

function keepNewest(parts: readonly LogPart[], keptRows: number): LogPart[] {
  const newest = parts.at(-1)?.last ?? 0
  return parts.filter(({ last }) => newest - last < keptRows).slice(-KEPT_PARTS)
}

/** A clock that was set back must not make a later publication look earlier. */
function laterOf(at: string, now: Date): string {
  const text = now.toISOString()
  return text > at ? text : at
}

/** Null if the file is missing or was cut short by a full disk: a new log begins then. */
function readHead(dir: string): LogHead | null {
  const parsed = v.safeParse(LogHeadSchema, parseJson(readOr(join(dir, 'head.json')) ?? ''))
  return parsed.success ? parsed.output : null
}

/** The rows whose lines are not in `others`. Null if a line is not a row. */
function parseRows(text: string, others: string | null): Map<string, ContentHash> | null {
  const same = new Set(others?.split('\n'))
  const changed = text.split('\n').filter((row) => row !== '' && !same.has(row))
  const parsed = v.safeParse(v.array(ContentHashSchema), changed.map(parseJson))
  return parsed.success ? new Map(parsed.output.map((row) => [row.id, row])) : null
}

function parseGone(text: string): Map<string, Gone> {
  const rows = text.split('\n').filter((line) => line !== '')
  const parsed = v.safeParse(v.array(GoneSchema), rows.map(parseJson))
  return new Map(parsed.success ? parsed.output.map((row) => [row.id, row]) : [])
}

/** Writes to disk under a temporary name first: a reader finds the file complete, even after a power cut. */
function writeWhole(dir: string, name: string, text: string): void {
  const temporary = join(dir, '.next')
  const file = openSync(temporary, 'w')
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(temporary, join(dir, name))
}

/** Removes a killed run's files, old parts, and the previous release's hashes. */
function removeUnnamed(dir: string, head: LogHead): void {
  const named = new Set(['head.json', head.hashes, ...head.parts.map(({ file }) => file)])
  const own = /^(?:\.next|[0-9a-f]{16}\.\d+\.(?:ndjson|hashes))$/
  for (const name of readdirSync(dir))
    if (own.test(name) && !named.has(name)) rmSync(join(dir, name), { force: true })
}

/** Null if the file is missing or unreadable. */
function readOr(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
