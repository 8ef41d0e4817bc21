import * as v from 'valibot'
import { fileHeaders } from '../../src/domain/delivery/file-headers.ts'
import {
  type ReleaseFile,
  ReleaseFileSchema,
  type Stored,
  StoredSchema,
} from '../../src/domain/derived/release-file.ts'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import { findContentType } from '../../src/domain/wire/static-file.ts'
import { nameBytes } from '../../src/store/objects.ts'
import { type ListedFile, ListedFileSchema } from '../../src/store/release-list.ts'
import type { Bucket } from './bucket.ts'

/**
 * A release in a bucket looks as on a disk: `objects/…` are named by the digest of their bytes, so
 * they are never written twice; `current.json` names the list of the release and the list of the
 * log of changes. It is the only object that ever changes.
 */
export const POINTER = 'current.json'

const PointerSchema = v.strictObject({
  version: v.literal(2),
  at: v.string(),
  release: v.strictObject({
    ...ReleaseFileSchema.entries,
    // It becomes the name of a file.
    name: v.pipe(v.string(), v.regex(/^[0-9a-f]{20}$/)),
  }),
  /** The list of `OUT_DIR/changes`; null without one. */
  log: v.nullable(StoredSchema),
})
export interface Pointer {
  version: 2
  at: string
  release: ReleaseFile
  log: Stored | null
}

/** Null where it is of another version, or not a pointer. */
export function parsePointer(bytes: Buffer): Pointer | null {
  const parsed = v.safeParse(PointerSchema, parseJson(bytes.toString()))
  return parsed.success ? parsed.output : null
}

/** @throws ValiError where a row is not one a publisher writes */
export function parseForeignList(bytes: Buffer): ListedFile[] {
  const parse = v.parser(ListedFileSchema)
  const rows = bytes.toString().split('\n').filter(Boolean)
  return rows.map((row) => parse(parseJson(row)))
}

/** Headers our own server sends with a public file; a bucket keeps unknown ones as metadata. */
export function objectHeaders(path: string): Record<string, string> {
  const [folder, ...below] = path.split('/')
  if (folder !== 'public') return { 'Content-Type': 'application/octet-stream' }
  const file = below.join('/')
  const headers = fileHeaders({ file, type: findContentType(file) })
  const { 'content-type': type = '', 'cache-control': cache = '', ...rest } = headers
  const others = Object.entries(rest).map(([name, value]) => [`x-amz-meta-${name}`, value])
  return { 'Content-Type': type, 'Cache-Control': cache, ...Object.fromEntries(others) }
}

/** The same bytes with other headers are another object. */
export function keyOf({ path, digest }: Pick<ListedFile, 'path' | 'digest'>): string {
  const key = `objects/${digest.slice(0, 2)}/${digest}`
  if (!path.startsWith('public/')) return key
  return `${key}-${nameBytes(JSON.stringify(objectHeaders(path))).slice(0, 8)}`
}

/** @throws when it is missing, or differs from what was published */
export async function fetchObject(bucket: Bucket, file: ListedFile): Promise<Buffer> {
  const key = keyOf(file)
  const found = await bucket.get(key)
  if (found === null || found === 'same') throw new Error(`${key} is missing`)
  if (nameBytes(found.bytes) !== file.digest)
    throw new Error(`${key} differs from what was published`)
  return found.bytes
}

/** @throws like `fetchObject`, and where it is not a list */
export async function fetchList(bucket: Bucket, stored: Stored | null): Promise<ListedFile[]> {
  if (stored === null) return []
  return parseForeignList(await fetchObject(bucket, { path: 'list', ...stored }))
}
