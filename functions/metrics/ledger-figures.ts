import type { ClickTally } from '../analytics/go-writer.ts'
import type { Clock } from '../ports/clock.ts'
import type { Store } from '../store/schema/store.ts'

/** Where the figures come from that nobody counts along the way. */
export interface MetricsSources {
  store: Store
  clock: Clock
  clicks: () => ClickTally
  /** When the release being served was published (milliseconds since the epoch). */
  publishedAt: () => number
}

/** @returns mails that wait and are not yet too old to be sent */
export async function readMailQueue({ db }: Store, now: number): Promise<number> {
  const { jobs } = await db
    .selectFrom('mail_job')
    .where('expires_at', '>', now)
    .select(({ fn }) => fn.countAll().as('jobs'))
    .executeTakeFirstOrThrow()
  return Number(jobs)
}

/** @returns how many checks of payments stand in each state that has any */
export async function readSettlements({ db }: Store): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('settlement_check')
    .groupBy('state')
    .select(({ fn }) => ['state', fn.countAll().as('checks')])
    .execute()
  return new Map(rows.map(({ state, checks }) => [state, Number(checks)]))
}
