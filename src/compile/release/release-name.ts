import { createHash } from 'node:crypto'
import { addTree, digestCode, PROJECT } from '../../build/code-digest.ts'
import type { PrivateTargets } from '../../domain/listing/target-url.ts'
import type { LedgerFacts } from '../../domain/trust/ledger-facts.ts'

export interface ReleaseInputs {
  contentDir: string
  baseUrl: string
  allowPrivate: PrivateTargets
  issuer: string
  asOf: string
  ledger: LedgerFacts
}

/**
 * Names a release by all its inputs, so that the same input is the same release, and a start can
 * detect a stale one without building.
 */
export function nameRelease(inputs: ReleaseInputs): string {
  const { contentDir, baseUrl, allowPrivate, issuer, asOf, ledger } = inputs
  const hash = createHash('sha256')
  hash.update(JSON.stringify({ baseUrl, allowPrivate, issuer, asOf }))
  hash.update(
    JSON.stringify([
      sorted(ledger.claimed),
      sorted(ledger.optedOut),
      sorted(ledger.moved),
      sorted(ledger.provenPayouts),
      sorted(ledger.probed),
      sorted(ledger.disputes),
      sorted(ledger.demand),
      ledger.asOf,
      ledger.payees,
    ]),
  )
  // One by one: a month may hold a million.
  for (const payment of ledger.payments) hash.update(JSON.stringify(payment))
  for (const path of ['listings', 'evidence', 'compare', 'tables', 'tombstones', 'sources'])
    addTree(hash, { root: contentDir, path })
  hash.update(digestCode())
  addTree(hash, { root: PROJECT, path: 'content/tables' })
  return hash.digest('hex').slice(0, 20)
}

function sorted<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1))
}
