import { join } from 'node:path'
import { sourceFileOf } from '../../src/content/read.ts'
import { listingIdOf } from '../../src/domain/listing/listing-id.ts'
import { toWithdrawnNotice } from '../../src/domain/sources/join-evidence.ts'
import { uniteFacts } from '../../src/domain/sources/join-facts.ts'
import { describeSkill } from '../../src/domain/sources/skill-facts.ts'
import { type NamedRow, renderSourceFile } from '../../src/domain/sources/source-row.ts'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { readIfThere, readReview } from '../content/content-folder.ts'
import { type ContentWriter, withContent } from '../content/content-writer.ts'
import type { Listed } from '../content/listed.ts'
import { renderListing } from '../content/listing-text.ts'
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
  type ReviewFile,
  type ReviewItem,
  type ReviewSource,
  reviewFileOf,
  reviewId,
  SETTLED_FILE,
  type SettledItem,
} from '../content/review-item.ts'
import { acceptFile, createFileCheck, noteSettled, type ReviewPlace } from './accept-file.ts'

/** A question about rows, and the rows. */
interface Asked {
  item: ReviewItem
  rows: readonly NamedRow[]
}

interface Context {
  now: () => string
  listed: () => Listed
}

/**
 * Rows of one source without a listing, each with the few lines that would create one; and people's
 * listings that the source withdrew.
 */
export function createRowQueue(
  importer: string,
  place: ReviewPlace,
  { now, listed }: Context,
): ReviewSource {
  const { contentDir } = place
  const asked = new Map<string, Asked>()
  const checkFile = createFileCheck(place)
  const settleAll = (items: readonly ReviewItem[], decision: Decision) =>
    withContent(contentDir, async (writer) => {
      const settled: SettledItem[] = []
      for (const item of items) {
        const { rows = [] } = asked.get(item.id) ?? {}
        const check = (file: ReviewFile) => checkFile(file, rows)
        try {
          const done = await carryOut(
            place,
            writer,
            { item, rows },
            { decision, check, now, listed },
          )
          settled.push({ item, done })
        } catch (error) {
          if (!(error instanceof OperatorError)) throw error
          settled.push({ item, fault: error.message })
        }
      }
      const done = settled.flatMap(({ item, fault }) => (fault === undefined ? [item] : []))
      await noteSettled(place, writer, done, { decision, now: now() })
      for (const { id } of done) await writer.remove(reviewFileOf(id))
      return settled
    })
  return {
    kind: importer,
    async list() {
      const drafts = await readReview(contentDir)
      const settled = parseSettled(drafts.get(SETTLED_FILE))
      for (const each of findAsked(importer, listed())) asked.set(each.item.id, each)
      const waiting = [...asked.values()].filter(({ item }) => !Object.hasOwn(settled, item.id))
      return waiting.map(({ item }) => {
        const draft = drafts.get(reviewFileOf(item.id))
        return draft === undefined ? item : parseReviewItem(draft, reviewFileOf(item.id))
      })
    },
    edit: (item, file) =>
      withContent(contentDir, (writer) =>
        writer.write(reviewFileOf(item.id), renderJson({ ...item, file })),
      ),
    async settle(item, decision) {
      const [settled] = await settleAll([item], decision)
      if (settled?.fault !== undefined) throw new OperatorError(settled.fault)
      return settled?.done ?? []
    },
    // Rows with words that a reviewer must read first are left out of a whole list.
    settleAll: (items, decision) =>
      settleAll(
        items.filter(({ why }) => why === NOT_LISTED),
        decision,
      ),
  }
}

const NOT_LISTED = 'not_listed_yet'

function findAsked(importer: string, listed: Listed): Asked[] {
  const { taken } = listed.place()
  const opened = listed.place(undefined, true).taken
  const isOurs = (rows: readonly NamedRow[]) => rows[0]?.importer === importer
  const news = [...opened].filter(([id, rows]) => !taken.has(id) && isOurs(rows))
  const left = [...taken].filter(([, rows]) => isOurs(rows) && toWithdrawnNotice(rows) !== null)
  return [
    ...news.flatMap(([id, rows]) => toNew(id, rows, listed)),
    ...left.flatMap(([id, rows]) => toLeft(id, rows, listed)),
  ]
}

function toNew(id: string, rows: readonly NamedRow[], { written }: Listed): Asked[] {
  const live = rows.filter(({ row }) => row.withdrawn === undefined)
  const [first] = live
  if (first === undefined || written.has(id)) return []
  const { importer, key, row } = first
  const { name, summary, categories } = uniteFacts(live.map((each) => each.row.facts))
  const words = {
    ...(name && { name }),
    ...(summary && { summary }),
    ...(categories && { categories }),
  }
  const note =
    row.held === undefined
      ? `${live.map((each) => `${each.importer} ${each.key}`).join(', ')}: a listing needs a name, a sentence and a category of our own.`
      : `Its text holds words that give orders to an agent: ${JSON.stringify(row.held)}.`
  const body = row.skill === undefined ? '' : `\n${describeSkill(row.skill)}\n`
  const item = {
    id: reviewId([importer, key, row.held ?? '']),
    at: `${row.added ?? '2026-01-01'}T00:00:00.000Z`,
    why: row.held === undefined ? NOT_LISTED : 'suspicious_text',
    from: importer,
    listing: id,
    note,
    file: { path: listingFileOf(id), text: `${renderListing(words)}${body}` },
  }
  return [{ item, rows: live }]
}

/** A listing with facts of its own that no source has any more: its maintainers decide. */
function toLeft(id: string, rows: readonly NamedRow[], { written }: Listed): Asked[] {
  const notice = toWithdrawnNotice(rows)
  const facts = written.get(id)?.facts
  if (notice === null || facts?.url === undefined || facts.kind === undefined) return []
  const [first] = rows
  const from = first?.importer ?? ''
  const note = `${notice.note} People wrote more of ${listingFileOf(id)} than its words.`
  const asked = reviewId([from, first?.key, 'withdrawn'])
  const item = { id: asked, at: notice.at, why: 'withdrawn_at_source', from, listing: id, note }
  return [{ item, rows }]
}

interface Settling extends Context {
  decision: Decision
  check: (file: ReviewFile) => string[]
}

async function carryOut(
  place: ReviewPlace,
  writer: ContentWriter,
  { item, rows }: Asked,
  { decision, check, now, listed }: Settling,
): Promise<string[]> {
  if (decision.decision === 'refused')
    return item.file === undefined ? [`${item.listing} stays as it is`] : ['nothing is listed']
  const file = decision.file ?? item.file
  if (file === undefined) return buryWithdrawn(place.contentDir, writer, item, now())
  const id = listingIdOf(file.path)
  // It has the name of an existing listing: the rows belong to that one.
  const isThere =
    file.text === item.file?.text &&
    (await readIfThere(join(place.contentDir, listingFileOf(id)))) !== null
  const done = isThere
    ? [`${file.path} takes the row`]
    : await acceptFile(place, writer, file, check)
  if (id !== item.listing) await assign(writer, rows, { id, sources: listed().sources })
  return done
}

/** Records which listing rows belong to, where neither their names nor their facts show it. */
async function assign(
  writer: ContentWriter,
  rows: readonly NamedRow[],
  { id, sources }: { id: string; sources: Listed['sources'] },
): Promise<void> {
  for (const { importer, key, row } of rows) {
    const file = sources.get(importer)
    if (file === undefined) continue
    file.rows[key] = { ...row, of: id }
    await writer.write(sourceFileOf(importer), renderSourceFile(file))
  }
}

/** Removes a listing that its source withdrew: its tombstone keeps the file. */
async function buryWithdrawn(
  contentDir: string,
  writer: ContentWriter,
  item: ReviewItem,
  now: string,
): Promise<string[]> {
  const file = listingFileOf(item.listing)
  const listing = await readIfThere(join(contentDir, file))
  if (listing === null) return [`${file} is gone already`]
  const evidence = await readIfThere(join(contentDir, evidenceFileOf(file)))
  const buried = { at: now, by: item.from, listing, evidence: evidence ?? undefined }
  await writer.write(tombstoneFileOf(file), renderTombstone(file, buried))
  await writer.remove(evidenceFileOf(file))
  await writer.remove(file)
  return [`${file} is withdrawn; ${tombstoneFileOf(file)} keeps it`]
}
