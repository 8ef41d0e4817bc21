import * as v from 'valibot'
import { listWaitingDisputes, settleDispute } from '../../functions/disputes/dispute-store.ts'
import { hasLedger } from '../../functions/operations/read-facts.ts'
import type { Config } from '../../functions/ports/config.ts'
import { createLog } from '../../functions/ports/log.ts'
import { openStore } from '../../functions/store/open-store.ts'
import type { DisputeTable, Store } from '../../functions/store/schema/store.ts'
import { receiptPath } from '../../src/domain/wire/links.ts'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import { type Listed, readListed } from '../content/listed.ts'
import type { ReviewItem, ReviewSource } from '../content/review-item.ts'
import { SOURCE_IDS } from '../sources/sources.ts'
import type { ReviewPlace } from './accept-file.ts'
import { openProposals } from './proposals.ts'
import {
  createFactQueue,
  PROPOSED_PAYOUTS,
  PROPOSED_TAGS,
  SUSPICIOUS_TEXTS,
} from './proposed-facts.ts'
import { createRowQueue } from './waiting-rows.ts'

/**
 * Every kind of question there is, each opened on its own: one that can't be must not hide the rest.
 * Null where nobody can have asked yet, as without a ledger.
 */
export function reviewSources(
  place: ReviewPlace,
  config: Config,
  now: () => string,
): { kind: string; open: () => Promise<ReviewSource | null> }[] {
  let known: Listed | undefined
  const listed = () => {
    known ??= readListed(place.contentDir, { allowPrivate: place.allowPrivate })
    return known
  }
  const log = createLog((line) => process.stderr.write(line), Date.now)
  return [
    ...SOURCE_IDS.map((importer) => ({
      kind: importer,
      open: async () => createRowQueue(importer, place, { now, listed }),
    })),
    ...[PROPOSED_TAGS, PROPOSED_PAYOUTS, SUSPICIOUS_TEXTS].map((fact) => ({
      kind: fact.kind,
      open: async () => createFactQueue(fact, place, now),
    })),
    {
      kind: 'proposals',
      open: async () =>
        hasLedger(config) ? openProposals(place, await openStore(config, log), now) : null,
    },
    {
      kind: 'disputes',
      open: async () =>
        hasLedger(config) ? createDisputeQueue(await openStore(config, log), now) : null,
    },
  ]
}

/**
 * What strangers dispute. Accepted, it is a notice on the listing, or a verdict that no longer counts among
 * what was delivered; it never moves a score.
 */
export function createDisputeQueue(store: Store, now: () => string): ReviewSource {
  return {
    kind: 'disputes',
    list: async () => (await listWaitingDisputes(store)).map(toItem),
    show: async (item) => urlsOf(item.found),
    async settle(item, { decision, reason }) {
      const done = await settleDispute(
        store,
        item.id,
        { state: decision, note: reason },
        Date.parse(now()),
      )
      if (!done) throw new OperatorError(`${item.id} was decided already`)
      if (item.why === VERDICT)
        return [
          decision === 'accepted'
            ? `the verdict no longer counts for ${item.listing} from the next build on; the log keeps it`
            : 'the verdict counts as before',
        ]
      return decision === 'accepted'
        ? [`${item.listing} shows the notice "disputed" from the next build on; no score changes`]
        : [`${item.listing} stays as it is`]
    },
    close: () => store.close(),
  }
}

const VERDICT = 'disputed_verdict'

function toItem(row: DisputeTable): ReviewItem {
  const { id, listing_id, reason, evidence_urls, created_at, receipt } = row
  const urls = urlsOf(parseJson(evidence_urls)).map((url) => `evidence: ${url}`)
  return {
    id,
    at: new Date(created_at).toISOString(),
    why: receipt === null ? 'disputed' : VERDICT,
    from: 'disputes',
    listing: listing_id,
    note: reason,
    found: receipt === null ? urls : [`receipt: ${receiptPath(receipt)}`, ...urls],
  }
}

function urlsOf(found: unknown): string[] {
  const parsed = v.safeParse(v.array(v.string()), found)
  return parsed.success ? parsed.output : []
}
