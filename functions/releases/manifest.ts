import { hash } from 'node:crypto'
import * as v from 'valibot'
import { parseJson } from '../../src/domain/wire/parse-json.ts'

/**
 * A release in a store:
 *
 * - `objects/…` hold bytes and are named by them, so they are never written twice;
 * - a manifest, cut into such objects, says which of them make up each file;
 * - `current.json` names the manifest. It is the only object that ever changes.
 */
export const POINTER = 'current.json'

const DigestSchema = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))
const PieceSchema = v.strictObject({
  key: v.pipe(v.string(), v.regex(/^objects\/[0-9a-f]{2}\/[0-9a-f]{64}(?:-[0-9a-f]{8})?$/)),
  size: v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(2 ** 20)),
})
export type Piece = v.InferOutput<typeof PieceSchema>

/** Below the folder of a release, or below `changes/` of `OUT_DIR`. */
const PathSchema = v.pipe(
  v.string(),
  v.regex(/^(?:data|deploy|functions|public|server|changes)\//),
  v.check(
    (path) => !/(?:^|\/)\.{0,2}(?:\/|$)|[\0\\]/.test(path),
    'expected a path below a release',
  ),
)
const StoredFileSchema = v.strictObject({
  path: PathSchema,
  digest: DigestSchema,
  pieces: v.array(PieceSchema),
})
export type StoredFile = v.InferOutput<typeof StoredFileSchema>

const PointerSchema = v.strictObject({
  version: v.literal(1),
  /** Name of the release. */
  release: v.pipe(v.string(), v.regex(/^[0-9a-f]{20}$/)),
  at: v.string(),
  digest: DigestSchema,
  pieces: v.array(PieceSchema),
})
export type Pointer = v.InferOutput<typeof PointerSchema>

/** Null where it is of another version, or no pointer at all. */
export function parsePointer(bytes: Buffer): Pointer | null {
  const parsed = v.safeParse(PointerSchema, parseJson(bytes.toString()))
  return parsed.success ? parsed.output : null
}

export function renderManifest(files: readonly StoredFile[]): Buffer {
  return Buffer.from(files.map((file) => `${JSON.stringify(file)}\n`).join(''))
}

/** @throws ValiError where a row is not what a publisher writes */
export function parseManifest(bytes: Buffer): StoredFile[] {
  const parse = v.parser(StoredFileSchema)
  const rows = bytes.toString().split('\n').filter(Boolean)
  return rows.map((row) => parse(parseJson(row)))
}

/** Hex SHA-256, whole: what strangers could write is named by it. */
export function nameBytes(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex')
}

/** Bytes that are sent with other headers are another object. */
export function keyOf(digest: string, headers: Record<string, string> | null): string {
  const kind =
    headers === null ? '' : `-${nameBytes(Buffer.from(JSON.stringify(headers))).slice(0, 8)}`
  return `objects/${digest.slice(0, 2)}/${digest}${kind}`
}
