import { createClickWriter } from '../clicks/go.ts'
import { createUsage } from '../clicks/usage.ts'
import type { Feature, Ledger, WriteLetter } from '../features/feature.ts'
import { createMailQueue, type Mailer, openMailer } from '../feeds/mail.ts'
import type { Clock } from '../ports/clock.ts'
import type { Config } from '../ports/config.ts'
import type { Log } from '../ports/log.ts'
import { lockState, StateError, unusable } from '../store/lock.ts'
import { openStore } from '../store/open-store.ts'
import { isStoreUnavailable } from '../store/store.ts'
import { createHints } from '../trust/hints.ts'

interface LedgerOptions {
  config: Config
  log: Log
  clock: Clock
  /** The name of the directory, for mails. */
  siteName: () => string
  /** By the kind of mail; features add theirs before anything is sent. */
  letters: ReadonlyMap<string, WriteLetter>
  mailer?: Mailer
  /** How long a redirect waits for a slow store (milliseconds), if not the usual second. */
  clickPatienceMs?: number
}

/**
 * Opens the ledger for a server: takes the lock on local state, opens and migrates the store.
 *
 * @throws StateError when another process serves from the same `STATE_DIR`
 */
export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const { config, log, clock, siteName, letters, clickPatienceMs } = options
  const { mailer = openMailer(config) } = options
  const lock = config.DATABASE_URL === undefined ? await lockState(config.STATE_DIR) : null
  const store = await openStore(config, log).catch((error: unknown) => {
    lock?.release()
    if (!isStoreUnavailable(error)) throw error
    if (lock !== null) throw unusable(config.STATE_DIR, error)
    // The message is the driver's; it names host and user, never the password.
    const reason = error instanceof Error ? error.message : String(error)
    throw new StateError(`DATABASE_URL cannot be used (${reason}). See that PostgreSQL is up.`)
  })
  const clicks = createClickWriter(store, log, clickPatienceMs)
  const usage = createUsage(store, clock, log)
  const mails = createMailQueue({ store, clock, log }, async (address, task) => {
    const letter = await letters.get(task.kind)?.(address, task)
    if (letter == null) return false
    const { body, ...head } = letter
    const text = `Hello,\n\n${body}\n\n${siteName()}, ${config.BASE_URL}\n`
    await mailer.send({ ...head, text, to: address, sender: siteName() })
    return true
  })
  const hints = createHints({ store, clock, log })
  return {
    store,
    clicks,
    usage,
    mails,
    hints,
    close: async () => {
      await Promise.all([clicks, usage, mails].map((part) => part.close()))
      await hints.written()
      mailer.close()
      await store.close()
      lock?.release()
    },
  }
}

export function addLetters(letters: Map<string, WriteLetter>, features: readonly Feature[]): void {
  for (const feature of features)
    for (const [kind, write] of Object.entries(feature.letters ?? {})) letters.set(kind, write)
}
