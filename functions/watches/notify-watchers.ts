import { resolve } from 'node:path'
import type { Kysely } from 'kysely'
import type { Change, LogHead } from '../../src/domain/changes/change-log.ts'
import { normalizePayout } from '../../src/domain/listing/caip-account.ts'
import { eventsOf } from '../../src/domain/watches/watch.ts'
import { kitPath } from '../../src/domain/wire/links.ts'
import type { SearchIndex } from '../../src/search/index/index-shape.ts'
import { type ChangeLog, createChangeLog } from '../changes/changes.ts'
import type { Addressed } from '../deliveries/delivery-task.ts'
import type { Parts } from '../parts/parts.ts'
import { readBuilt } from '../release/release.ts'
import { inPieces } from '../store/rows.ts'
import type { Tables, WatchTable } from '../store/schema/store.ts'
import { createLoop } from '../store/work-loop.ts'
import { findWatched, openEarlier } from './find-watched.ts'

const LOOK_EVERY_MS = 2_000
/** Changes that one delivery names. */
const MAX_NAMED = 10

type TellParts = Pick<Parts, 'release' | 'ledger' | 'clock' | 'log' | 'config'>

/** Notifies watchers of every release served here, once over all servers of a ledger. */
export function startNotifier(parts: Parts): { look(): Promise<void>; close(): Promise<void> } {
  const changes = createChangeLog(resolve(parts.config.OUT_DIR))
  let seen = ''
  const { run, idle } = createLoop(async () => {
    const head = await changes.head()
    const mark = `${head?.log} ${head?.seq} ${parts.release().name}`
    if (head === null || mark === seen) return
    // News of a release that is not served yet would link to pages that do not exist.
    if (head.release.split('.')[0] !== parts.release().name) return
    const told = await notifyWatchers(parts, changes, head)
    seen = mark
    if (told > 0) parts.log.info('watches.told', { release: head.release, watches: told })
  })
  const look = () =>
    run().catch((error) => parts.log.error('watches.failed', { reason: String(error) }))
  const timer = setInterval(look, LOOK_EVERY_MS)
  timer.unref()
  return {
    look,
    close: async () => {
      clearInterval(timer)
      await idle()?.catch(() => {})
    },
  }
}

/**
 * Queues news of the release and records that, in one transaction.
 *
 * @returns how many watches are notified
 */
async function notifyWatchers(parts: TellParts, log: ChangeLog, head: LogHead): Promise<number> {
  const { store, deliveries } = parts.ledger
  const after = await findStart(store.db, head)
  if (after === null) return 0
  const notable = await readNotable(log, head, after)
  const hasLeft = [...notable.values()].some(({ change }) => change.change === 'removed')
  const earlier = hasLeft ? openEarlier(parts.config.OUT_DIR, head) : null
  const news = await matchWatches(parts, notable, earlier)
  const jobs = [...news].map(([watch, changes]) => toJob(watch, changes))
  const isMine = await store.db.transaction().execute(async (trx) => {
    if (!(await claimRelease(trx, head, parts.clock.now()))) return false
    await deliveries.addAll(trx, jobs)
    return true
  })
  if (!isMine) return 0
  deliveries.deliverSoon()
  return jobs.length
}

/**
 * The last row of the log that watchers were notified of; null where another server has notified of
 * this release. Servers keep their own logs, which share the names of releases.
 */
async function findStart(db: Kysely<Tables>, { release, before, log, seq }: LogHead) {
  const turns = await db
    .selectFrom('watch_turn')
    .selectAll()
    .where((eb) =>
      eb.or([eb('release', 'in', [release, before?.release ?? release]), eb('log', '=', log)]),
    )
    .orderBy('seq', 'desc')
    .execute()
  const known = turns.find((turn) => turn.release === release)
  if (known !== undefined && (known.log !== log || known.seq >= seq)) return null
  if (before !== null && turns.some((turn) => turn.release === before.release)) return before.seq
  // Several releases were published while this server was down; earlier changes are not announced.
  return turns.find((turn) => turn.log === log)?.seq ?? seq
}

/** @returns false where another server took over meanwhile */
async function claimRelease(trx: Kysely<Tables>, { release, log, seq }: LogHead, now: number) {
  const row = { release, log, seq, told_at: now }
  const taken = await trx
    .insertInto('watch_turn')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .column('release')
        .doUpdateSet(row)
        .where('watch_turn.log', '=', log)
        .where('watch_turn.seq', '<', seq),
    )
    .returning('release')
    .execute()
  return taken.length > 0
}

type Notable = Map<string, { change: Change; events: ReadonlySet<string> }>

/** By listing; changes of several releases are merged into one. */
async function readNotable(log: ChangeLog, head: LogHead, start: number): Promise<Notable> {
  const notable: Notable = new Map()
  for await (const rows of log.parts(head, start, head.seq))
    for (const change of rows) {
      const events = eventsOf(change)
      if (events.size > 0) notable.set(change.id, join(notable.get(change.id), change, events))
    }
  return notable
}

function join(
  known: { change: Change; events: ReadonlySet<string> } | undefined,
  change: Change,
  events: ReadonlySet<string>,
) {
  if (known?.change.facts === undefined || change.facts === undefined) return { change, events }
  const facts = { ...known.change.facts, ...change.facts }
  return { change: { ...change, facts }, events: known.events.union(events) }
}

type News = Map<WatchTable, Change[]>

async function matchWatches(parts: TellParts, notable: Notable, earlier: SearchIndex | null) {
  const news: News = new Map()
  const tell = (watches: readonly WatchTable[], ids: Iterable<string>) => {
    const found = [...ids].flatMap((id) => notable.get(id) ?? [])
    for (const watch of watches) {
      const wanted = new Set(watch.events.split(','))
      const changes = found.flatMap(({ change, events }) =>
        events.isDisjointFrom(wanted) ? [] : [change],
      )
      if (changes.length > 0) news.set(watch, changes)
    }
  }
  const hasLeft = (id: string) => notable.get(id)?.change.change === 'removed'
  const { db } = parts.ledger.store
  const live = () =>
    db
      .selectFrom('watch')
      .selectAll('watch')
      .leftJoin('claim', 'claim.id', 'watch.claim_id')
      .where('watch.state', '=', 'live')
      .where((eb) => eb.or([eb('claim_id', 'is', null), eb('claim.state', '=', 'verified')]))
  for (const some of inPieces([...notable.keys()])) {
    const watches = await live().where('kind', '=', 'listing').where('target', 'in', some).execute()
    for (const watch of watches) tell([watch], [watch.target])
  }
  const payees = await live().where('kind', '=', 'payee').execute()
  const paid = payees.length === 0 ? new Map<string, string[]>() : await readPayees(parts, notable)
  for (const watch of payees) tell([watch], paid.get(watch.target) ?? [])
  const queries = await live().where('kind', '=', 'query').execute()
  for (const [query, watches] of Map.groupBy(queries, ({ target }) => target)) {
    const left = earlier === null ? [] : findWatched(earlier, query).filter(hasLeft)
    tell(watches, new Set([...findWatched(parts.release().search, query), ...left]))
    // Ten thousand searches take seconds: requests are served in between.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return news
}

/** Ids of the notable listings with an address as payout, now or before. */
async function readPayees(parts: TellParts, notable: Notable): Promise<Map<string, string[]>> {
  const byPayee = new Map<string, string[]>()
  for (const [id, { change }] of notable) {
    const kit = await readBuilt<{ payees: string[] }>(parts.release(), kitPath(id))
    const before = change.facts?.payees?.was?.split(' ') ?? []
    for (const payee of new Set([...(kit?.payees ?? []), ...before].map(normalizePayout)))
      byPayee.set(payee, [...(byPayee.get(payee) ?? []), id])
  }
  return byPayee
}

function toJob({ id, email, webhook }: WatchTable, changes: readonly Change[]): Addressed {
  const named = changes.slice(0, MAX_NAMED)
  const more = changes.length - named.length
  const task = { kind: 'watch_news' as const, watch_id: id, changes: named, more }
  return { address: webhook ?? email ?? '', task }
}
