import { readReview } from '../content/content-folder.ts'
import { type ContentWriter, openContent } from '../content/content-writer.ts'
import { renderJson } from '../content/machine-files.ts'
import {
  parseReviewItem,
  parseSettled,
  type ReviewItem,
  reviewFileOf,
  SETTLED_FILE,
} from '../content/review-item.ts'
import { acceptFile, type ReviewPlace } from './accept-file.ts'
import type { Decision, ReviewSource } from './review-source.ts'
import { buryWithdrawn } from './settle-withdrawn.ts'

/** Questions that importers left in `content/review`. */
export function createContentQueue(place: ReviewPlace, now: () => string): ReviewSource {
  const { contentDir } = place
  /** No importer writes meanwhile. */
  async function withContent<Result>(work: (writer: ContentWriter) => Promise<Result>) {
    const writer = await openContent(contentDir)
    try {
      return await work(writer)
    } finally {
      await writer.release()
    }
  }
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
    show: async () => [],
    edit: (item, file) =>
      withContent((writer) => writer.write(reviewFileOf(item.id), renderJson({ ...item, file }))),
    settle: (item, decision) =>
      withContent(async (writer) => {
        const done = await carryOut(place, writer, item, { decision, now: now() })
        const settled = parseSettled((await readReview(contentDir)).get(SETTLED_FILE))
        const note = {
          decision: decision.decision,
          reason: decision.reason,
          at: now(),
          listing: item.listing,
        }
        await writer.write(SETTLED_FILE, renderJson(sorted({ ...settled, [item.id]: note })))
        await writer.remove(reviewFileOf(item.id))
        return done
      }),
    close: async () => undefined,
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

/** By id: two branches that settle different questions merge without conflict. */
function sorted<Value>(record: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
}
