import { hash } from 'node:crypto'
import type { LiveListing } from '../../src/domain/listing/listing-states.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { Store } from '../store/store.ts'

/**
 * Hints from relayed calls: that the meter should read now, and which listing was called. A hint
 * proves nothing and makes nothing count, and losing one loses no payment.
 *
 * Security model: sellers and callers write hints as they like. So each listing has a fixed number
 * of slots, a client can use only a few of them, and the oldest goes first: writing one costs the
 * same however many there are. The meter reads only blocks, so invented ones cost it nothing.
 */

/** Slots of a listing: this many lanes, each shared by several clients. */
const LANES = 16
const PLACES_A_LANE = 16
/** Hints being written at once; more are dropped. */
const MOST_WRITING = 64

export function createHints({ store, clock, log }: { store: Store; clock: Clock; log: Log }) {
  const writing = new Set<Promise<void>>()
  return {
    /** Notes the transaction that an answer names. Returns at once. @param client who called */
    note(
      { id, payout }: Pick<LiveListing, 'id' | 'payout'>,
      client: string,
      transaction: string,
    ): void {
      if (payout.length === 0 || writing.size >= MOST_WRITING) return
      const hint = { listing_id: id, transaction_id: transaction, noted_at: clock.now() }
      const write = insertHint(store, hint, laneOf(client))
        .catch((error: unknown) => {
          const reason = error instanceof Error ? error.name : 'unknown'
          log.error('hint.not_written', { listing: id, error: reason })
        })
        .finally(() => writing.delete(write))
      writing.add(write)
    },
    /** Resolves when everything noted so far is written. */
    written: async () => void (await Promise.all(writing)),
  }
}

interface Hint {
  listing_id: string
  transaction_id: string
  noted_at: number
}

async function insertHint({ db }: Store, hint: Hint, lane: number): Promise<void> {
  const first = lane * PLACES_A_LANE
  const taken = await db
    .selectFrom('payment_hint')
    .select('place')
    .where('listing_id', '=', hint.listing_id)
    .where('place', '>=', first)
    .where('place', '<', first + PLACES_A_LANE)
    .orderBy('noted_at')
    .orderBy('place')
    .execute()
  const isTaken = new Set(taken.map(({ place }) => place))
  const places = Array.from({ length: PLACES_A_LANE }, (_, n) => first + n)
  const place = places.find((one) => !isTaken.has(one)) ?? taken[0]?.place ?? first
  await db
    .insertInto('payment_hint')
    .values({ ...hint, place })
    .onConflict((conflict) => conflict.columns(['listing_id', 'place']).doUpdateSet(hint))
    .execute()
}

function laneOf(client: string): number {
  return Number.parseInt(hash('sha256', client, 'hex').slice(0, 8), 16) % LANES
}

/** Whether any hint was noted since a time (milliseconds). */
export async function hasHintSince({ db }: Store, since: number): Promise<boolean> {
  const found = await db
    .selectFrom('payment_hint')
    .select('place')
    .where('noted_at', '>', since)
    .limit(1)
    .execute()
  return found.length > 0
}
