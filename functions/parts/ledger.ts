import type { ClickWriter } from '../analytics/go-writer.ts'
import type { Usage } from '../analytics/usage.ts'
import type { MailQueue } from '../mail/mail-queue.ts'
import type { Settlements } from '../settlements/settlements.ts'
import type { Store } from '../store/schema/store.ts'

/** Everything the service remembers, as its capabilities see it. */
export interface Ledger {
  store: Store
  clicks: ClickWriter
  usage: Usage
  mail: MailQueue
  settlements: Settlements
  /** Writes what is still in memory, then closes the store. */
  close(): Promise<void>
}
