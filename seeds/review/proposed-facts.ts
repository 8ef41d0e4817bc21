import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ListingFile } from '../../src/content/listing-file.ts'
import { type Content, readContent } from '../../src/content/read.ts'
import { normalizePayout } from '../../src/domain/listing/networks.ts'
import { findSuspiciousTexts } from '../../src/domain/probe/mcp.ts'
import { hostOf, ownerAt } from '../../src/domain/sellers/claim-rules.ts'
import { largestOf } from '../../src/domain/wire/json.ts'
import { OperatorError } from '../../src/domain/wire/problems.ts'
import { listingFileOf } from '../content/content-files.ts'
import {
  createFileCheck,
  type Question,
  questionId,
  type ReviewPlace,
  type ReviewSource,
  readSettled,
  settleInContent,
} from './questions.ts'

/** Values for one listing that a person may accept together. */
interface Proposal {
  file: ListingFile
  at: string
  values: readonly string[]
  note: string
  /** Why the values can't be accepted yet. */
  lacks?: string | undefined
}

/** Facts that machines read and that may belong in a listing, and the question about them. */
interface ProposedFact {
  kind: 'payouts' | 'texts'
  propose(content: Content): readonly Proposal[]
  add(text: string, proposal: Proposal): string
}

/**
 * Payees that sources name, or that a 402 on a known operator's own host named. If only this seller
 * is paid there and two sources name the payee, a person may accept it. Payments to it are not
 * accepted before the seller's own page names it (`payout_source`), or the seller proves it.
 */
export const PROPOSED_PAYOUTS: ProposedFact = {
  kind: 'payouts',
  propose(content) {
    const ownerOf = ({ facts }: ListingFile) =>
      ownerAt(hostOf(facts.url) ?? '', content.tables.sharedHosts)
    const namings = content.listings.flatMap((file) => findNamings(file, content))
    const byPayee = Map.groupBy(namings, ({ payee }) => normalizePayout(payee))
    return [...byPayee.values()].flatMap((all) =>
      [...Map.groupBy(all, ({ file }) => file)].flatMap(([file, own]): Proposal[] => {
        const [first] = own
        if (first === undefined || own.some(({ by }) => by === PUBLISHED)) return []
        const by = [...new Set(own.map((each) => each.by))]
        const other = all.find((each) => ownerOf(each.file) !== ownerOf(file))?.file.id
        const hosts = largestOf(own.map(({ shared_with = 1 }) => shared_with))
        const others = other ?? (hosts > 1 ? `${hosts} hosts` : undefined)
        const isOne = by.length < 2 && !first.isEnough
        const page = file.facts.payout_source
        const lacks = others
          ? `${others} may be paid there too: only the address's owner can prove who owns it`
          : isOne
            ? `only ${by.join()} named it: a second source must name it too`
            : page && `payments to it would count: if ${page} names it, add it to the file by hand`
        const advice =
          'accept it only if a page of the seller names it too, and write that page as payout_source: without payout_source, payments do not count'
        const note = `${by.join(' and ')} named ${first.payee}; ${lacks ?? advice}`
        return [{ file, at: first.at, values: [first.payee], note, lacks }]
      }),
    )
  },
  add(text, { values, note }) {
    const list = values.map((one) => `"${one}"`).join(', ')
    const end = text.indexOf('\n---', 4)
    const there = /^payout: \[(.+)\]$/m.exec(text.slice(0, end))
    if (there !== null) return text.replace(there[0], `payout: [${there[1]}, ${list}]`)
    const source = `# ${note.replace(/ named .*/, '')} named it; without payout_source, payments to it do not count.`
    return `${text.slice(0, end)}\n${source}\npayout: [${list}]${text.slice(end)}`
  },
}

const PUBLISHED = 'the listing'

/** Who names each of a listing's payees, the listing included. */
function findNamings(file: ListingFile, { tables, evidence, taken }: Content) {
  const known = new Set(tables.independentOperators.map(({ domain }) => domain))
  const isOwn = (url: string) => known.has(ownerAt(hostOf(url) ?? '', tables.sharedHosts))
  const { url, http, payout: published } = file.facts
  const isEnough = [url, ...http.map((each) => each.url)].every(isOwn) && published.length === 0
  const reported = (taken.get(file.id) ?? []).flatMap(({ importer, row }) =>
    (row.payees ?? []).map((each) => ({
      ...each,
      by: importer,
      at: `${row.added ?? file.facts.added}T00:00:00.000Z`,
    })),
  )
  const accounts = new Set(reported.map(({ payee }) => normalizePayout(payee)))
  const seen = (evidence.get(file.id)?.interface?.payouts ?? []).flatMap(({ payout, seen_at }) =>
    isEnough || accounts.has(normalizePayout(payout))
      ? [{ payee: payout, by: 'its 402', at: seen_at, isEnough }]
      : [],
  )
  const own = published.map((payee) => ({ payee, by: PUBLISHED, at: '' }))
  return [...reported, ...seen, ...own].map((naming) => ({
    isEnough: false,
    shared_with: 1,
    ...naming,
    file,
  }))
}

/** Texts that have become orders to an agent. Once accepted, they do not come up again, changed or not. */
export const SUSPICIOUS_TEXTS: ProposedFact = {
  kind: 'texts',
  propose: ({ listings, evidence }) =>
    listings.flatMap((file) => {
      const { at = '', tools = [], skills = [] } = evidence.get(file.id)?.interface ?? {}
      const found = findSuspiciousTexts([...tools, ...skills])
      const values = found.map(({ name, rule }) => `${name} (${rule})`)
      const note = `read the instructions that these give to an agent, and decide whether the listing may stay as it is: ${values.join(', ')}`
      return values.length === 0 ? [] : [{ file, at, values, note }]
    }),
  add: (text) => text,
}

export function createFactQueue(
  fact: ProposedFact,
  place: ReviewPlace,
  now: () => string,
): ReviewSource {
  const { contentDir, allowPrivate } = place
  /** Each listing's file as it was when its question was listed, by the question's id. */
  const before = new Map<string, { written: string; lacks: string | undefined }>()
  const checkFile = createFileCheck(place)
  const read = (path: string) => readFile(join(contentDir, path), 'utf8')
  const list = async () => {
    if (!existsSync(join(contentDir, 'listings'))) return []
    const { content } = readContent(contentDir, { allowPrivate })
    const settled = await readSettled(contentDir)
    const questions: Question[] = []
    if (content === null) return questions
    for (const proposal of fact.propose(content)) {
      const { file, lacks } = proposal
      const question = toQuestion(fact, proposal)
      if (Object.hasOwn(settled, question.id)) continue
      const written = await read(file.file)
      const text = fact.add(written, proposal)
      before.set(question.id, { written, lacks })
      questions.push({ ...question, file: { path: file.file, text } })
    }
    return questions
  }
  /** The listing's file to write; undefined if the file stays as it is. */
  const judge = async ({ id, listing, file }: Question, isAccepted: boolean) => {
    if (!before.has(id)) await list()
    const { written, lacks } = before.get(id) ?? {}
    const text = await read(listingFileOf(listing)).catch(() => '')
    if (text !== written)
      throw new OperatorError(`${id}: the listing's file has changed since the question was listed`)
    if (isAccepted && lacks !== undefined) throw new OperatorError(`${id}: ${lacks}`)
    return isAccepted ? file : undefined
  }
  return {
    kind: fact.kind,
    list,
    settle: (questions, decision) =>
      settleInContent(place, questions, { decision, at: now() }, async (question, writer) => {
        const file = await judge(question, decision.decision === 'accepted')
        if (file === undefined) return [`${question.listing} stays as it is`]
        const warnings = checkFile(file)
        await writer.write(file.path, file.text)
        return [file.path, ...warnings]
      }),
  }
}

function toQuestion({ kind }: ProposedFact, { file, at, values, note, lacks }: Proposal): Question {
  // The id changes with what is lacking, so the question comes up again once nothing is lacking.
  const requested = [file.id, values, ...(lacks === undefined ? [] : ['lacking'])]
  const [id, why] = [`${kind}-${questionId(requested)}`, `proposed_${kind}`]
  return { id, at, why, from: kind, listing: file.id, note }
}
