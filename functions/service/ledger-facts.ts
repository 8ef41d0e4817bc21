import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type {
  Demand,
  LedgerFacts,
  LedgerPayee,
  OwnerFacts,
} from '../../src/domain/trust/ledger-facts.ts'
import { HISTORY_MS } from '../../src/domain/trust/score-listings.ts'
import { windowEnd } from '../../src/domain/trust/trust.ts'
import { DAY_MS } from '../../src/domain/wire/shapes.ts'
import { RETENTION } from '../../src/domain/wire/vocabulary.ts'
import { moveRows } from '../clicks/retention.ts'
import { readClickCounts, readUsageCounts } from '../clicks/usage.ts'
import type { Config } from '../ports/config.ts'
import type { Log } from '../ports/log.ts'
import { readProbeEvidence } from '../probes/schedule.ts'
import { readJudgedCalls, readReceiptDays } from '../receipts/read-receipts.ts'
import { openStore } from '../store/open-store.ts'
import { type Store, toDay } from '../store/store.ts'
import { provenPayouts, readVerifiedSettlements } from '../trust/meter-rows.ts'

/**
 * The ledger's facts for a build.
 * @param moves listings that moved according to the content: their ledger rows move too
 * @param payeesOf returns the owner of each payee; called only if there are payments
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

const DEMAND_DAYS = 90

/** What the next build needs to know: owners, removals, and ninety days of searches and clicks. */
export async function readLedgerFacts(
  store: Store,
  now: number,
): Promise<Omit<OwnerFacts, 'probed'>> {
  const claims = await store.db
    .selectFrom('claim')
    .select(['listing_id', 'host', 'verified_at'])
    .where('state', '=', 'verified')
    .execute()
  const removals = await store.db
    .selectFrom('opt_out')
    .select(['listing_id', 'host', 'moved_to'])
    .execute()
  const proofs = await provenPayouts(store.db).execute()
  const proven = Map.groupBy(proofs, ({ listing_id }) => listing_id)
  return {
    provenPayouts: new Map([...proven].map(([id, rows]) => [id, rows.map((row) => row.payout)])),
    claimed: new Map(claims.map(({ listing_id, host }) => [listing_id, host])),
    provedAt: new Map(claims.map((claim) => [claim.listing_id, claim.verified_at ?? 0])),
    optedOut: new Map(removals.map(({ listing_id, host }) => [listing_id, host])),
    moved: new Map(
      removals.flatMap(({ listing_id, moved_to }) =>
        moved_to === null ? [] : [[listing_id, moved_to]],
      ),
    ),
    disputes: await readAcceptedDisputes(store, now),
    demand: await readDemand(store, toDay(now) - DEMAND_DAYS + 1),
  }
}

/** `outside` counts what did not come from our own pages (`src` other than `web`). */
async function readDemand(store: Store, sinceDay: number): Promise<Map<string, Demand>> {
  const clicks = await readClickCounts(store, null, sinceDay)
  const usage = await readUsageCounts(store, null, sinceDay)
  const shown = usage.filter(({ kind }) => kind === 'impression')
  const counts = [
    ...clicks.map(({ listing_id, src, clicks: count }) => ({ listing_id, src, count })),
    ...shown.map(({ listing_id, src, uses: count }) => ({ listing_id, src, count })),
  ]
  const demand = new Map<string, Demand>()
  for (const { listing_id, src, count } of counts) {
    const sum = demand.get(listing_id) ?? { all: 0, outside: 0 }
    sum.all += count
    if (src !== 'web') sum.outside += count
    demand.set(listing_id, sum)
  }
  return demand
}

async function readAcceptedDisputes({ db }: Store, now: number) {
  const rows = await db
    .selectFrom('report')
    .select(['listing_id', 'reason', 'settled_at'])
    .where((eb) => eb.and({ kind: 'dispute', state: 'accepted' }))
    // A successful dispute about a receipt's verdict is not held against the listing.
    .where('receipt', 'is', null)
    .where('settled_at', '>=', now - RETENTION.report_days * DAY_MS)
    .orderBy('listing_id')
    .orderBy('settled_at')
    .orderBy('id')
    .execute()
  const byListing = Map.groupBy(rows, ({ listing_id }) => listing_id ?? '')
  return new Map(
    [...byListing].map(([id, own]) => [
      id,
      own.map(({ reason, settled_at }) => ({ at: settled_at ?? 0, note: reason ?? '' })),
    ]),
  )
}
