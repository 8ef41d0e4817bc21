import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type LedgerFacts, NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'
import { readLedgerFacts } from '../analytics/ledger-facts.ts'
import type { Config } from '../ports/config.ts'
import type { Log } from '../ports/log.ts'
import { readVerifiedSettlements } from '../settlements/read-verified-settlements.ts'
import { openStore } from '../store/open-store.ts'
import { SQLITE_FILE } from '../store/sqlite/store.ts'

/**
 * What the ledger says to a build; nothing where there is no ledger yet.
 *
 * @param payoutsOf a listing's published payout addresses; asked only for listings with settlements
 */
export async function readFactsForBuild(
  config: Config,
  log: Log,
  payoutsOf: (listingId: string) => readonly string[],
): Promise<LedgerFacts> {
  const hasLedger =
    config.DATABASE_URL !== undefined || existsSync(join(config.STATE_DIR, SQLITE_FILE))
  if (!hasLedger) return NO_LEDGER_FACTS
  const store = await openStore(config, log)
  try {
    const now = Date.now()
    return {
      ...(await readLedgerFacts(store, now)),
      settlements: await readVerifiedSettlements(store, payoutsOf, now),
    }
  } finally {
    await store.close()
  }
}
