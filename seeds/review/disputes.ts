import * as v from 'valibot'
import { listWaitingDisputes, settleDispute } from '../../functions/disputes/dispute-store.ts'
import type { DisputeTable } from '../../functions/store/schema/review-tables.ts'
import type { Store } from '../../functions/store/schema/store.ts'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import type { ReviewItem } from '../content/review-item.ts'
import type { ReviewSource } from './review-source.ts'

/** What strangers dispute. Accepted, it is a notice on the listing; it never moves a score. */
export function createDisputeQueue(store: Store, now: () => string): ReviewSource {
  return {
    kind: 'disputes',
    list: async () => (await listWaitingDisputes(store)).map(toItem),
    show: async (item) => urlsOf(item.found).map((url) => `evidence: ${url}`),
    async settle(item, { decision, reason }) {
      const done = await settleDispute(
        store,
        item.id,
        { state: decision, note: reason },
        Date.parse(now()),
      )
      if (!done) throw new OperatorError(`${item.id} was decided already`)
      return decision === 'accepted'
        ? [`${item.listing} shows the notice "disputed" from the next build on; no score changes`]
        : [`${item.listing} stays as it is`]
    },
    close: () => store.close(),
  }
}

function toItem({ id, listing_id, reason, evidence_urls, created_at }: DisputeTable): ReviewItem {
  return {
    id,
    at: new Date(created_at).toISOString(),
    why: 'disputed',
    from: 'disputes',
    listing: listing_id,
    note: reason,
    found: parseJson(evidence_urls),
  }
}

function urlsOf(found: unknown): string[] {
  const parsed = v.safeParse(v.array(v.string()), found)
  return parsed.success ? parsed.output : []
}
