import { join } from 'node:path'
import * as v from 'valibot'
import { listWaitingDisputes, settleDispute } from '../../functions/disputes/dispute-store.ts'
import { hasLedger } from '../../functions/operations/read-facts.ts'
import type { Config } from '../../functions/ports/config.ts'
import { createLog } from '../../functions/ports/log.ts'
import { openStore } from '../../functions/store/open-store.ts'
import type { DisputeTable, Store } from '../../functions/store/schema/store.ts'
import { isListingId } from '../../src/domain/listing/listing-id.ts'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import { lockFileOf, readIfThere, readMemory, readReview } from '../content/content-folder.ts'
import { type ContentWriter, withContent } from '../content/content-writer.ts'
import {
  evidenceFileOf,
  listingFileOf,
  renderJson,
  renderTombstone,
  tombstoneFileOf,
} from '../content/machine-files.ts'
import {
  type Decision,
  parseReviewItem,
  parseSettled,
  type ReviewItem,
  type ReviewSource,
  reviewFileOf,
  SETTLED_FILE,
} from '../content/review-item.ts'
import { renderLock } from '../content/seed-lock.ts'
import { acceptFile, noteSettled, type ReviewPlace } from './accept-file.ts'
import { openProposals } from './proposals.ts'
import {
  createFactQueue,
  PROPOSED_PAYOUTS,
  PROPOSED_TAGS,
  SUSPICIOUS_TEXTS,
} from './proposed-facts.ts'

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

/** Questions that importers left in `content/review`. */
export function createContentQueue(place: ReviewPlace, now: () => string): ReviewSource {
  const { contentDir } = place
  return {
    kind: 'content',
    async list() {
      const files = await readReview(contentDir)
      const settled = parseSettled(files.get(SETTLED_FILE))
      return (
        [...files]
          .filter(([file]) => file !== SETTLED_FILE)
          .map(([file, text]) => parseReviewItem(text, file))
          // Killed between the note of a decision and the end of the question.
          .filter(({ id }) => !Object.hasOwn(settled, id))
          .sort((a, b) => (a.at === b.at ? (a.id < b.id ? -1 : 1) : a.at < b.at ? -1 : 1))
      )
    },
    edit: (item, file) =>
      withContent(contentDir, (writer) =>
        writer.write(reviewFileOf(item.id), renderJson({ ...item, file })),
      ),
    settle: (item, decision) =>
      withContent(contentDir, async (writer) => {
        const done = await carryOut(place, writer, item, { decision, now: now() })
        await noteSettled(place, writer, item, { decision, now: now() })
        await writer.remove(reviewFileOf(item.id))
        return done
      }),
  }
}

async function carryOut(
  place: ReviewPlace,
  writer: ContentWriter,
  item: ReviewItem,
  { decision, now }: { decision: Decision; now: string },
): Promise<string[]> {
  if (decision.decision === 'refused')
    return item.file === undefined ? [`${item.listing} stays as it is`] : ['nothing is listed']
  const file = decision.file ?? item.file
  if (file !== undefined) return acceptFile(place, writer, file)
  return item.why === 'withdrawn_at_source'
    ? buryWithdrawn(place.contentDir, writer, item, now)
    : ['noted; nothing else follows from it']
}

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

/**
 * Takes out a listing that people edited and its source withdrew, as the importer would have done
 * with one that nobody had edited: its tombstone keeps the file, and a return restores it.
 */
async function buryWithdrawn(
  contentDir: string,
  writer: ContentWriter,
  item: ReviewItem,
  now: string,
): Promise<string[]> {
  if (!isListingId(item.listing))
    throw new OperatorError(`${item.id} names no listing: ${JSON.stringify(item.listing)}`)
  const file = listingFileOf(item.listing)
  const { kept, promised } = await readMemory(contentDir, item.from)
  if (promised !== null)
    throw new OperatorError(
      `a run of ${item.from} was killed: run npm run seed -- ${item.from} once more, then decide`,
    )
  const listing = await readIfThere(join(contentDir, file))
  if (listing === null) return [`${file} is gone already`]
  const evidence = await readIfThere(join(contentDir, evidenceFileOf(file)))
  const buried = { at: now, by: item.from, listing, evidence: evidence ?? undefined }
  await writer.write(tombstoneFileOf(file), renderTombstone(file, buried))
  const listings = [...kept.listings].map(
    ([key, { missing_since: _, ...entry }]) =>
      [key, entry.file === file ? { ...entry, withdrawn: true as const } : entry] as const,
  )
  await writer.write(lockFileOf(item.from), renderLock({ ...kept, listings: new Map(listings) }))
  await writer.remove(evidenceFileOf(file))
  await writer.remove(file)
  return [`${file} is withdrawn; ${tombstoneFileOf(file)} keeps it`]
}
