import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { readCurrent } from '../../src/compile/release/publish-release.ts'
import { fileHeaders } from '../../src/domain/delivery/file-headers.ts'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import { type StaticFile, StaticFileSchema, toUrlPath } from '../../src/domain/wire/static-file.ts'
import type { Bucket } from './bucket.ts'
import { cutPieces, LARGEST } from './cut-pieces.ts'
import {
  keyOf,
  nameBytes,
  type Piece,
  POINTER,
  type Pointer,
  parseManifest,
  parsePointer,
  renderManifest,
  type StoredFile,
} from './manifest.ts'
import { inParallel, readPieces } from './read-pieces.ts'

/** What a publication did. */
export interface Pushed {
  release: string
  /** Objects that the store did not have. */
  objects: number
  bytes: number
  /** Paths whose bytes changed, so that a CDN can forget them. */
  changed: string[]
  /** Objects that neither this release nor the one before needs. */
  idle: string[]
}

const CODINGS = { br: 'br', gz: 'gzip' } as const
type Headers = Record<string, string>

/**
 * Puts the current release of `outDir` into the store: first what it lacks, then, in one
 * conditional write, the pointer. A run that ends early leaves objects that the next one uses.
 *
 * @param now written into the pointer
 * @throws OperatorError when there is no release, the store refuses, or another publisher was faster
 */
export async function pushRelease(bucket: Bucket, outDir: string, now: Date): Promise<Pushed> {
  const folder = readCurrent(outDir)
  if (folder === null)
    throw new OperatorError(`OUT_DIR ${outDir} holds no release: build one with "npm run build".`)
  const found = await bucket.get(POINTER)
  const there = found === 'same' ? null : found
  const earlier = there === null ? null : parsePointer(there.bytes)
  const known = await readKeys(bucket)
  const store = createStore(bucket, known)
  const files = await sendFiles(store, outDir, join(outDir, 'releases', folder))
  const manifest = renderManifest(files)
  const { digest, pieces } = await store.send(manifest, null)
  const [release = folder] = folder.split('.')
  const pointer: Pointer = { version: 1, release, at: now.toISOString(), digest, pieces }
  const before = await readEarlier(bucket, earlier)
  if (earlier?.digest !== digest) {
    const bytes = Buffer.from(JSON.stringify(pointer))
    if (!(await bucket.replace(POINTER, bytes, there?.etag ?? null)))
      throw new OperatorError(
        'Another publisher put its release there meanwhile. Look which one is right, and run the command again.',
      )
  }
  const used = [pointer, ...(earlier === null ? [] : [earlier]), ...files, ...before]
  const needed = new Set(used.flatMap((each) => each.pieces.map(({ key }) => key)))
  const idle = [...known].filter((key) => !needed.has(key))
  return { release, ...store.sent, changed: findChanged(before, files), idle }
}

/** By the first character of their names, side by side: a store lists a thousand at a time. */
async function readKeys(bucket: Bucket): Promise<Set<string>> {
  const known = new Set<string>()
  const shares = Array.from({ length: 16 }, (_, n) => n.toString(16))
  await inParallel(shares, async (share) => {
    for (const key of await bucket.keys(`objects/${share}`)) known.add(key)
  })
  return known
}

/** Sends what is not known yet; large bytes in pieces, and so are those without headers. */
function createStore(bucket: Bucket, known: Set<string>) {
  const sent = { objects: 0, bytes: 0 }
  return {
    sent,
    async send(bytes: Buffer, headers: Headers | null) {
      const own = bytes.length > LARGEST ? null : headers
      const cut = own === null ? cutPieces(bytes) : [bytes]
      const pieces: Piece[] = []
      for (const piece of cut) {
        const key = keyOf(nameBytes(piece), own)
        pieces.push({ key, size: piece.length })
        if (known.has(key)) continue
        known.add(key)
        await bucket.put(key, piece, own ?? { 'Content-Type': 'application/octet-stream' })
        sent.objects += 1
        sent.bytes += piece.length
      }
      return { digest: nameBytes(bytes), pieces }
    },
  }
}

/** @returns the rows of the manifest, in their order */
async function sendFiles(
  { send }: ReturnType<typeof createStore>,
  outDir: string,
  dir: string,
): Promise<StoredFile[]> {
  const headersOf = readHeaders(dir)
  const files: StoredFile[] = []
  await inParallel(listFiles(outDir, dir), async ({ path, from }) => {
    files.push({ path, ...(await send(readFileSync(from), headersOf(path) ?? null)) })
  })
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Every file of the release and of the log of changes. */
function listFiles(outDir: string, dir: string): { path: string; from: string }[] {
  const below = (root: string, prefix: string) =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((from) => ({ from, path: `${prefix}${from.slice(root.length + 1)}` }))
  const log = join(outDir, 'changes')
  return [...below(dir, ''), ...(existsSync(log) ? below(log, 'changes/') : [])]
}

/** What our own server sends beside a public file; a store keeps what it does not know as metadata. */
function readHeaders(dir: string): (path: string) => Headers | undefined {
  const text = readFileSync(join(dir, 'data/files.ndjson'), 'utf8')
  const parse = v.parser(StaticFileSchema)
  const rows = text
    .split('\n')
    .filter(Boolean)
    .map((row) => parse(parseJson(row)))
  const byPath = new Map<string, Headers>()
  for (const row of rows) {
    byPath.set(`public/${row.file}`, toObjectHeaders(row, null))
    for (const coding of ['br', 'gz'] as const)
      if (row[coding] > 0)
        byPath.set(`public/${row.file}.${coding}`, toObjectHeaders(row, CODINGS[coding]))
  }
  return (path) => byPath.get(path)
}

function toObjectHeaders(file: StaticFile, coding: string | null): Headers {
  const { 'content-type': type = '', 'cache-control': cache = '', ...rest } = fileHeaders(file)
  const others = Object.entries(rest).map(([name, value]) => [`x-amz-meta-${name}`, value])
  return {
    'Content-Type': type,
    'Cache-Control': cache,
    ...(coding !== null && { 'Content-Encoding': coding }),
    ...Object.fromEntries(others),
  }
}

/** Nothing where there was none, or where it cannot be read any more. */
async function readEarlier(bucket: Bucket, pointer: Pointer | null): Promise<StoredFile[]> {
  if (pointer === null) return []
  return readPieces(pointer, (key) => bucket.get(key)).then(parseManifest, () => [])
}

function findChanged(before: readonly StoredFile[], after: readonly StoredFile[]): string[] {
  const digests = new Map(before.map(({ path, digest }) => [path, digest]))
  const changed = after.filter(({ path, digest }) => digests.get(path) !== digest)
  const now = new Set(after.map(({ path }) => path))
  const gone = before.filter(({ path }) => !now.has(path))
  const addresses = [...changed, ...gone]
    .filter(({ path }) => path.startsWith('public/') && !/\.(?:br|gz)$/.test(path))
    .map(({ path }) => toUrlPath(path.slice('public/'.length)))
  return before.length === 0 ? [] : [...new Set(addresses)].sort()
}
