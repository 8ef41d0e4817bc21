import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { LedgerFacts, OwnerFacts } from '../../src/domain/trust/ledger-facts.ts'
import type { LedgerPayee } from '../../src/domain/trust/ledger-payment.ts'
import { HISTORY_MS } from '../../src/domain/trust/score-listings.ts'
import { windowEnd } from '../../src/domain/trust/trust.ts'
import { readLedgerFacts } from '../analytics/ledger-facts.ts'
import { moveRows } from '../analytics/move-rows.ts'
import type { Config } from '../ports/config.ts'
import type { Log } from '../ports/log.ts'
import { readProbeEvidence } from '../probes/schedule.ts'
import { readJudgedCalls, readReceiptDays } from '../receipts/read-receipts.ts'
import { openStore } from '../store/open-store.ts'
import { readVerifiedSettlements } from '../trust/meter-rows.ts'

/**
 * What the ledger says to a build.
 *
 * @param moves listings that moved according to the content: their ledger rows move too
 * @param payeesOf the owner of each payee; called only where there are payments
 */
export async function readFactsForBuild(
  config: Config,
  log: Log,
  moves: ReadonlyMap<string, string>,
  payeesOf: (ledger: OwnerFacts) => readonly LedgerPayee[],
): Promise<LedgerFacts> {
  await using store = await openStore(config, log)
  const now = windowEnd(Date.parse(config.AS_OF))
  const { moved } = await readLedgerFacts(store, now)
  await moveRows(store.db, new Map([...moved, ...moves]), (id) =>
    existsSync(join(config.CONTENT_DIR, 'listings', `${id.replace('.', '/')}.md`)),
  )
  const facts = {
    ...(await readLedgerFacts(store, now)),
    probed: await readProbeEvidence(store),
  }
  const paid = await readVerifiedSettlements(store, () => payeesOf(facts), now)
  return {
    ...facts,
    ...paid,
    judgedCalls: await readJudgedCalls(store, paid.payments, now - HISTORY_MS / 3),
    receiptDays: await readReceiptDays(store, Math.min(now, Date.now())),
  }
}
