import type { Kysely } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { up as clicks } from './migrations/0001-clicks.ts'
import { up as sellers } from './migrations/0002-sellers.ts'
import { up as claims } from './migrations/0003-claims.ts'
import { up as mail } from './migrations/0004-mail.ts'
import { up as settlements } from './migrations/0010-settlements.ts'
import { up as attempts } from './migrations/0011-attempts.ts'
import { up as lastChecks } from './migrations/0020-last-checks.ts'
import { up as settlementCalls } from './migrations/0030-settlement-calls.ts'
import { up as payoutProofs } from './migrations/0031-payout-proofs.ts'
import { up as settlementBlocks } from './migrations/0032-settlement-blocks.ts'
import { up as meter } from './migrations/0033-meter.ts'
import { up as probeEvidence } from './migrations/0040-probe-evidence.ts'
import { up as proposals } from './migrations/0050-proposals.ts'
import { up as disputes } from './migrations/0055-disputes.ts'
import { up as channels } from './migrations/0060-channels.ts'
import type { Store } from './schema/store.ts'

/** A number once landed is never edited, a change is a new number; none needs one of another range. */
const MIGRATIONS: Record<string, Migration> = {
  '0001-clicks': { up: clicks },
  '0002-sellers': { up: sellers },
  '0003-claims': { up: claims },
  '0004-mail': { up: mail },
  '0010-settlements': { up: settlements },
  '0011-attempts': { up: attempts },
  '0020-last-checks': { up: lastChecks },
  '0030-settlement-calls': { up: settlementCalls },
  '0031-payout-proofs': { up: payoutProofs },
  '0032-settlement-blocks': { up: settlementBlocks },
  '0033-meter': { up: meter },
  '0040-probe-evidence': { up: probeEvidence },
  '0050-proposals': { up: proposals },
  '0055-disputes': { up: disputes },
  '0060-channels': { up: channels },
}

/**
 * Brings the store to the newest shape. Two instances may start at once: PostgreSQL's advisory lock,
 * or SQLite's `BEGIN IMMEDIATE`, lets one work while the other waits and then finds nothing to do.
 *
 * @throws when a migration fails (all of them are rolled back), or when the store has been migrated
 * by a newer version than this one
 */
export async function migrateStore(store: Store): Promise<readonly string[]> {
  const { error, results } = await createMigrator(store).migrateToLatest()
  if (error !== undefined) throw error
  return (results ?? []).map((result) => result.migrationName)
}

export function createMigrator(store: Store): Migrator {
  return new Migrator({
    // The migrator works on whatever tables there are; the typed tables are its result.
    db: store.db as Kysely<unknown>,
    provider: { getMigrations: async () => MIGRATIONS },
    // Numbers come in ranges, one for each part of the ledger: a later one may have run already.
    allowUnorderedMigrations: true,
  })
}
