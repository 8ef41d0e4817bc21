import type { Config } from '../../functions/ports/config.ts'
import { createLog } from '../../functions/ports/log.ts'
import { openStore } from '../../functions/store/open-store.ts'
import { hasLedger } from '../../functions/store/sqlite/ledger-file.ts'
import { type Listed, readListed } from '../content/listed.ts'
import type { ReviewSource } from '../content/review-item.ts'
import { SOURCE_IDS } from '../sources/sources.ts'
import type { ReviewPlace } from './accept-file.ts'
import {
  createFactQueue,
  PROPOSED_PAYOUTS,
  PROPOSED_TAGS,
  SUSPICIOUS_TEXTS,
} from './proposed-facts.ts'
import { createReportQueue, createReviewClient } from './reports.ts'
import { createRowQueue } from './waiting-rows.ts'

/**
 * Every kind of question, each opened on its own: a failing one must not hide the rest. Null where
 * nobody can have asked yet, as without a ledger.
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
      kind: 'reports',
      open: async () =>
        hasLedger(config)
          ? createReportQueue(place, await openStore(config, log), now, () =>
              createReviewClient(config),
            )
          : null,
    },
  ]
}
