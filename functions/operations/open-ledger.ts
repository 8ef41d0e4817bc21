import { createClickWriter } from '../analytics/go-writer.ts'
import { createUsage } from '../analytics/usage.ts'
import { createMailQueue } from '../mail/mail-queue.ts'
import { openMailer } from '../mail/open-mailer.ts'
import type { Ledger } from '../parts/parts.ts'
import type { Clock } from '../ports/clock.ts'
import type { Config } from '../ports/config.ts'
import type { Log } from '../ports/log.ts'
import type { Mailer } from '../ports/mailer.ts'
import { createMailWriter } from '../sellers/sessions/mail-writer.ts'
import { createSettlements } from '../settlements/settlements.ts'
import { openStore } from '../store/open-store.ts'
import type { Store } from '../store/schema/store.ts'
import { isStoreUnavailable } from '../store/schema/store-error.ts'
import { lockState, StateError, unusable } from './state-lock.ts'

export interface LedgerOptions {
  config: Config
  log: Log
  clock: Clock
  /** What the directory is called, for mails. */
  siteName: () => string
  mailer?: Mailer
  /** How long a redirect waits for a slow store (milliseconds), where it is not the usual second. */
  clickPatienceMs?: number
}

/**
 * Opens the ledger for a server: takes the lock on local state, opens and migrates the store.
 *
 * @throws StateError when another process serves from the same `STATE_DIR`
 */
export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const { config } = options
  const lock = config.DATABASE_URL === undefined ? await lockState(config.STATE_DIR) : null
  try {
    const store = await openStore(config, options.log)
    return createLedger(store, options, () => lock?.release())
  } catch (error) {
    lock?.release()
    if (!isStoreUnavailable(error)) throw error
    throw lock === null ? unreachable(error) : unusable(config.STATE_DIR, error)
  }
}

/** The message is the driver's own; it names host and user, never the password. */
function unreachable(error: unknown): StateError {
  const reason = error instanceof Error ? error.message : String(error)
  return new StateError(`DATABASE_URL cannot be used (${reason}). See that PostgreSQL is up.`)
}

/** The ledger over a store that is open already. */
export function createLedger(
  store: Store,
  { config, log, clock, siteName, clickPatienceMs, mailer = openMailer(config) }: LedgerOptions,
  onClosed: () => void = () => {},
): Ledger {
  const clicks = createClickWriter(store, log, clickPatienceMs)
  const usage = createUsage(store, clock, log)
  const writeMail = createMailWriter(store, clock, { baseUrl: config.BASE_URL, name: siteName })
  const mail = createMailQueue({ store, mailer, clock, log, writeMail })
  const settlements = createSettlements({ store, config, clock, log })
  return {
    store,
    clicks,
    usage,
    mail,
    settlements,
    close: async () => {
      await Promise.all([clicks.close(), usage.close(), mail.close(), settlements.close()])
      mailer.close()
      await store.close()
      onClosed()
    },
  }
}
