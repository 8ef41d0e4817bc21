import { mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import { crc32 } from 'node:zlib'
import { digestOf } from './release-writer.ts'

/** Cache between builds: bytes by the digest of their inputs (`digestOf`, of `KEY` characters). */
export interface BuildCache {
  /** A value stored by this build or an earlier one, or null. */
  get(key: string): Buffer | null
  set(key: string, bytes: Uint8Array): void
  /** Writes the values of this build; rarely used ones are removed. */
  close(): void
}

/** Hex digits of a key: enough that nobody can find two texts with the same one. */
export const KEY = 64

/** Rows written together. */
const ROWS_AT_ONCE = 1000

/** Share of unused rows before they are removed. */
const MAX_UNUSED = 0.25

/**
 * A table in SQLite. A damaged one, or one of another version, is recreated; where none can be
 * stored, the next build makes the values again.
 *
 * @param version all else that decides the output besides the input: code, packages, rules
 */
export function openBuildCache(path: string, version: string): BuildCache {
  try {
    mkdirSync(dirname(path), { recursive: true })
    return openTable(path, version) ?? createTable(path, version)
  } catch {
    return noCache()
  }
}

function createTable(path: string, version: string): BuildCache {
  for (const ending of ['', '-wal', '-shm']) rmSync(`${path}${ending}`, { force: true })
  const database = new DatabaseSync(path)
  // A power cut may damage it, which the checksums detect: nothing waits for the disk.
  database.exec(`PRAGMA page_size = 16384; PRAGMA journal_mode = WAL;
    CREATE TABLE version (version TEXT);
    CREATE TABLE made (key BLOB PRIMARY KEY, bytes BLOB, checksum INTEGER)`)
  database.prepare('INSERT INTO version VALUES (?)').run(version)
  database.close()
  const cache = openTable(path, version)
  if (cache === null) throw new Error(`${path} cannot be read`)
  return cache
}

/** Null without one, or for one of another version. */
function openTable(path: string, version: string): BuildCache | null {
  let database: DatabaseSync | null = null
  try {
    database = new DatabaseSync(path)
    const row = database.prepare('SELECT version FROM version').get()
    if (row?.version === version) {
      database.exec('PRAGMA synchronous = OFF')
      return createCache(database)
    }
    database.close()
  } catch {
    database?.close()
  }
  return null
}

function createCache(database: DatabaseSync): BuildCache {
  const select = database.prepare('SELECT bytes, checksum FROM made WHERE key = ?')
  const insert = database.prepare('INSERT OR REPLACE INTO made VALUES (?, ?, ?)')
  const used = new Set<string>()
  let waiting = 0
  return {
    get(key) {
      const bytes = read(select, key)
      if (bytes !== null) used.add(key)
      return bytes
    },
    set(key, bytes) {
      used.add(key)
      tryTo(() => {
        if (waiting === 0) database.exec('BEGIN')
        insert.run(Buffer.from(key, 'hex'), bytes, crc32(bytes))
        waiting = (waiting + 1) % ROWS_AT_ONCE
        if (waiting === 0) database.exec('COMMIT')
      })
    },
    close() {
      tryTo(() => {
        if (waiting > 0) database.exec('COMMIT')
        removeUnused(database, used)
      })
      database.close()
    },
  }
}

function read(select: StatementSync, key: string): Buffer | null {
  try {
    // A build reads tens of thousands: a schema would cost as much as the disk.
    const { bytes, checksum } = select.get(Buffer.from(key, 'hex')) ?? {}
    if (!(bytes instanceof Uint8Array) || crc32(bytes) !== checksum) return null
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  } catch {
    return null
  }
}

function removeUnused(database: DatabaseSync, used: ReadonlySet<string>): void {
  const count = Number(database.prepare('SELECT count(*) AS rows FROM made').get()?.rows)
  if (count - used.size <= count * MAX_UNUSED) return
  const remove = database.prepare('DELETE FROM made WHERE key = ?')
  const keys = database.prepare('SELECT key FROM made').all()
  database.exec('BEGIN')
  for (const { key } of keys)
    if (key instanceof Uint8Array && !used.has(Buffer.from(key).toString('hex'))) remove.run(key)
  database.exec('COMMIT')
}

/** The result of `make` for an input, from the cache where possible. */
export function memoize(
  cache: BuildCache,
  input: string | Uint8Array,
  make: () => Uint8Array,
): Buffer {
  const key = digestOf(input, KEY)
  const known = cache.get(key)
  if (known !== null) return known
  const { buffer, byteOffset, byteLength } = make()
  const made = Buffer.from(buffer, byteOffset, byteLength)
  cache.set(key, made)
  return made
}

/** Stores a value, unless it does not survive JSON unchanged. */
export function setValue(cache: BuildCache, key: string, value: object): void {
  const row = JSON.stringify(value)
  if (isDeepStrictEqual(JSON.parse(row), value)) cache.set(key, Buffer.from(row))
}

/** The result of `make`, called on first use. */
export function lazy<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** In memory, for one process: the most recently used rows. */
export function keepInMemory(most: number): BuildCache {
  const rows = new Map<string, Buffer>()
  const set = (key: string, bytes: Uint8Array) => {
    rows.delete(key)
    rows.set(key, Buffer.from(bytes))
    const [oldest = key] = rows.keys()
    if (rows.size > most) rows.delete(oldest)
  }
  return {
    get(key) {
      const bytes = rows.get(key) ?? null
      if (bytes !== null) set(key, bytes)
      return bytes
    },
    set,
    close: () => rows.clear(),
  }
}

export function noCache(): BuildCache {
  return { get: () => null, set: () => undefined, close: () => undefined }
}

/** Where nothing can be stored, the next build makes it again. */
function tryTo(work: () => void): void {
  try {
    work()
  } catch {}
}
