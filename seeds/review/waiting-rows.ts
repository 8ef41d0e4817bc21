import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { toWithdrawnNotice } from '../../src/content/join.ts'
import { sourceFileOf } from '../../src/content/read.ts'
import { listingIdOf } from '../../src/domain/listing/listing-text.ts'
import { uniteFacts } from '../../src/domain/sources/join-rows.ts'
import {
  describeSkill,
  type NamedRow,
  renderSourceFile,
} from '../../src/domain/sources/source-row.ts'
import {
  type ContentWriter,
  evidenceFileOf,
  type Listed,
  listingFileOf,
  membersOf,
  readIfThere,
  renderJson,
  tombstoneFileOf,
} from '../content/content-files.ts'
import { renderListing } from '../content/listing-text.ts'
import {
  acceptFile,
  createFileCheck,
  type Question,
  questionId,
  type ReviewPlace,
  type ReviewSource,
  readSettled,
  settleInContent,
} from './questions.ts'

interface Requested {
  question: Question
  rows: readonly NamedRow[]
}

/**
 * One source's rows without a listing, each with the few lines that would create one, and people's
 * listings that the source withdrew.
 */
export function createRowQueue(
  importer: string,
  place: ReviewPlace,
  { now, listed }: { now: () => string; listed: () => Listed },
): ReviewSource {
  const { contentDir } = place
  const requested = new Map<string, Requested>()
  const checkFile = createFileCheck(place)
  return {
    kind: importer,
    async list() {
      const settled = await readSettled(contentDir)
      for (const each of findRequested(importer, listed())) requested.set(each.question.id, each)
      return [...requested.values()]
        .map(({ question }) => question)
        .filter(({ id }) => !Object.hasOwn(settled, id))
    },
    show: async ({ file }) => ({ lines: [], draft: file }),
    isPlain: ({ why }) => why === NOT_LISTED,
    settle: (questions, decision) =>
      settleInContent(place, questions, { decision, at: now() }, async (question, writer) => {
        const { file, listing } = question
        const { question: first, rows } = requested.get(question.id) ?? { question, rows: [] }
        if (decision.decision === 'refused')
          return [file === undefined ? `${listing} stays as it is` : 'nothing is listed']
        if (file === undefined) return buryWithdrawn(contentDir, writer, question, now())
        const id = listingIdOf(file.path)
        // A listing already has this name, so the rows belong to it.
        const isThere =
          file.text === first.file?.text && existsSync(join(contentDir, listingFileOf(id)))
        const done = isThere
          ? [`${file.path} takes the row`]
          : await acceptFile(place, writer, file, (each) => checkFile(each, rows))
        if (id !== first.listing) await assign(writer, rows, { id, sources: listed().sources })
        return done
      }),
  }
}

const NOT_LISTED = 'not_listed_yet'

function findRequested(importer: string, listed: Listed): Requested[] {
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

function toNew(id: string, rows: readonly NamedRow[], { written }: Listed): Requested[] {
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
      ? `${live.map((each) => `${each.importer} ${each.key}`).join(', ')}: the listing needs a name, a summary and a category that we write.`
      : `Its text contains words that give orders to an agent: ${JSON.stringify(row.held)}.`
  const body = row.skill === undefined ? '' : `\n${describeSkill(row.skill)}\n`
  const question = {
    id: questionId([importer, key, row.held ?? '']),
    at: `${row.added ?? '2026-01-01'}T00:00:00.000Z`,
    why: row.held === undefined ? NOT_LISTED : 'suspicious_text',
    from: importer,
    listing: id,
    note,
    file: { path: listingFileOf(id), text: `${renderListing(words)}${body}` },
  }
  return [{ question, rows: live }]
}

/** A listing with its own facts that is no longer in any source: its maintainers decide. */
function toLeft(id: string, rows: readonly NamedRow[], { written }: Listed): Requested[] {
  const notice = toWithdrawnNotice(rows)
  const facts = written.get(id)?.facts
  if (notice === null || facts?.url === undefined || facts.kind === undefined) return []
  const [first] = rows
  const from = first?.importer ?? ''
  const note = `${notice.note} People wrote facts in ${listingFileOf(id)}, so the listing stays until somebody decides.`
  const requested = questionId([from, first?.key, 'withdrawn'])
  const question = {
    id: requested,
    at: notice.at,
    why: 'withdrawn_at_source',
    from,
    listing: id,
    note,
  }
  return [{ question, rows }]
}

/** Records which listing the rows belong to, if neither their names nor their facts show it. */
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

/** Removes a listing that its source withdrew; its tombstone keeps the file. */
async function buryWithdrawn(
  contentDir: string,
  writer: ContentWriter,
  { listing: id, from }: Question,
  now: string,
): Promise<string[]> {
  const file = listingFileOf(id)
  const listing = await readIfThere(join(contentDir, file))
  if (listing === null) return [`${file} is already gone`]
  const seen = await readIfThere(join(contentDir, evidenceFileOf(file)))
  const evidence = seen === null ? undefined : membersOf(seen)
  const buried = { id, reason: 'withdrawn', at: now, by: from, listing, evidence }
  await writer.write(tombstoneFileOf(file), renderJson(buried))
  await writer.remove(evidenceFileOf(file))
  await writer.remove(file)
  return [`${file} is withdrawn; ${tombstoneFileOf(file)} keeps it`]
}
