import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LedgerFacts } from '../../domain/trust/ledger-facts.ts'

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url))

/** What of the project goes into a release beside the content. */
const CODE = ['src', 'public', 'content/tables', 'astro.config.mjs', 'package-lock.json']

export interface ReleaseInputs {
  contentDir: string
  baseUrl: string
  allowPrivate: boolean
  ledger: LedgerFacts
}

/**
 * Names a release by everything it is made from, so that the same input is the same release, and
 * a start can tell a stale one without building.
 */
export function nameRelease({ contentDir, baseUrl, allowPrivate, ledger }: ReleaseInputs): string {
  const hash = createHash('sha256')
  hash.update(JSON.stringify({ baseUrl, allowPrivate, node: process.version.split('.')[0] }))
  hash.update(
    JSON.stringify([
      sorted(ledger.claimed),
      sorted(ledger.optedOut),
      sorted(ledger.provenPayouts),
      sorted(ledger.probed),
      sorted(ledger.disputes),
      sorted(ledger.demand),
      sorted(ledger.settlements),
      [...ledger.metered].sort(),
      sorted(ledger.payments),
      ledger.transfers,
    ]),
  )
  for (const folder of ['listings', 'evidence', 'compare', 'tables', 'tombstones'])
    addTree(hash, contentDir, folder)
  for (const path of CODE) addTree(hash, PROJECT, path)
  return hash.digest('hex').slice(0, 20)
}

function addTree(hash: ReturnType<typeof createHash>, root: string, path: string): void {
  const full = join(root, path)
  if (!existsSync(full)) return
  const files = statSync(full).isDirectory()
    ? readdirSync(full, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .sort()
    : [full]
  for (const file of files) {
    const bytes = readFileSync(file)
    hash.update(`${file.slice(root.length)}\0${bytes.length}\0`)
    hash.update(bytes)
  }
}

function sorted<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1))
}
