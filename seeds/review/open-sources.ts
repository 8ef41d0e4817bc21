import { hasLedger } from '../../functions/operations/read-facts.ts'
import type { Config } from '../../functions/ports/config.ts'
import { createLog } from '../../functions/ports/log.ts'
import { openStore } from '../../functions/store/open-store.ts'
import type { ReviewPlace } from './accept-file.ts'
import { createContentQueue } from './content-queue.ts'
import { createDisputeQueue } from './disputes.ts'
import { openProposals } from './proposals.ts'
import { createTagQueue } from './proposed-tags.ts'
import type { ReviewSource } from './review-source.ts'

/**
 * Every kind of question there is, each opened on its own: one that can't be must not hide the rest.
 * Null where nobody can have asked yet, as without a ledger.
 */
export function reviewSources(
  place: ReviewPlace,
  config: Config,
  now: () => string,
): { kind: string; open: () => Promise<ReviewSource | null> }[] {
  const log = createLog((line) => process.stderr.write(line), Date.now)
  return [
    { kind: 'content', open: async () => createContentQueue(place, now) },
    { kind: 'tags', open: async () => createTagQueue(place, now) },
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
