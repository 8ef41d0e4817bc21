import { createHash, type Hash, hash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { recall } from '../content/recall.ts'
import type { PrivateTargets } from '../domain/listing/target-url.ts'
import type { LedgerFacts } from '../domain/trust/ledger-facts.ts'
import { listFiles } from './folder.ts'

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

/** The project's files that decide a release's bytes, apart from tables and content. */
const CODE = ['src', 'functions', 'astro.config.mjs', 'package-lock.json']

/** Folders in the content that a build reads. */
const CONTENT = ['listings', 'evidence', 'compare', 'tables', 'tombstones', 'sources']

export interface Settings {
  contentDir: string
  baseUrl: string
  allowPrivate: PrivateTargets
  /** `OIDC_ISSUER` */
  issuer: string
  /** `AS_OF` */
  asOf: string
}

/** Digest of everything a release is made from: it shows at start, without a build, whether a release is stale. */
export function digestInputs(settings: Settings, ledger: LedgerFacts): string {
  const { contentDir, ...others } = settings
  const digest = createHash('sha256').update(JSON.stringify(others))
  const { payments, receiptDays, ...facts } = ledger
  const days = receiptDays.map(({ file: _, ...day }) => day)
  digest.update(JSON.stringify([facts, days], toSortedRows))
  // One by one: a month may have a million payments.
  for (const payment of payments) digest.update(JSON.stringify(payment))
  for (const path of CONTENT) addTree(digest, contentDir, path)
  digest.update(digestCode())
  addTree(digest, PROJECT, 'content/tables')
  return digest.digest('hex').slice(0, 20)
}

/** A map as its rows in a fixed order: `JSON.stringify` writes a map as empty. */
function toSortedRows(_name: string, value: unknown): unknown {
  return value instanceof Map ? [...value].sort(([a], [b]) => (a < b ? -1 : 1)) : value
}

let ofThisProcess: string | undefined

/** Hex digest of the code that makes a release, including packages and Node's version. */
export function digestCode(): string {
  ofThisProcess ??= digestFiles()
  return ofThisProcess
}

function digestFiles(): string {
  const digest = createHash('sha256').update(process.version)
  for (const path of CODE) addTree(digest, PROJECT, path)
  return digest.digest('hex').slice(0, 32)
}

/** Adds a file, or every file in a folder with its path. A missing path adds nothing. */
function addTree(digest: Hash, root: string, path: string): void {
  const full = join(root, path)
  if (!existsSync(full)) return
  const files = statSync(full).isDirectory()
    ? listFiles(full).map((file) => join(full, file))
    : [full]
  for (const file of files) {
    const { mtimeMs, size } = statSync(file)
    const bytes = recall(`bytes ${file}`, `${mtimeMs} ${size}`, () => ({
      digest: hash('sha256', readFileSync(file)),
    }))
    digest.update(`${file.slice(root.length)}\0${bytes.digest}\0`)
  }
}
