import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ListingFile } from '../../src/content/listing-file.ts'
import { type Content, readContent } from '../../src/content/read.ts'
import { hostOf, ownerDomainOf } from '../../src/domain/owners/shared-hosts.ts'
import { findSuspiciousTexts } from '../../src/domain/probe/mcp.ts'
import type { Interface } from '../../src/domain/trust/interface.ts'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { withContent } from '../content/content-writer.ts'
import { addTags } from '../content/listing-text.ts'
import { listingFileOf } from '../content/machine-files.ts'
import {
  createFileCheck,
  noteSettled,
  type Question,
  questionId,
  type ReviewPlace,
  type ReviewSource,
  readSettled,
  settleEach,
} from './questions.ts'

/** Nobody reads more than these at once. */
const MAX_PROPOSED = 8
/** A few plain words. */
const TAG = /^[a-z][a-z0-9]*(?: [a-z0-9]+){0,4}$/
const MAX_TAG_LENGTH = 40

/** Facts from probes that may belong in a listing, and the question about them. */
interface ProposedFact {
  kind: 'tags' | 'payouts' | 'texts'
  /** Whether a whole list may be accepted unread. */
  isPlain: boolean
  propose(file: ListingFile, seen: Interface, content: Content): readonly string[]
  /** Null where a person edits the file better. */
  add(text: string, values: readonly string[]): string | null
  note(values: string): string
}

/**
 * Names of tools and skills: search reads tags, so a reviewer decides. Adding them automatically
 * would invite sellers to stuff them.
 */
export const PROPOSED_TAGS: ProposedFact = {
  kind: 'tags',
  isPlain: true,
  propose: ({ facts }, seen) => proposeTags(seen, facts.tags),
  add: addTags,
  note: (tags) => `its tools or skills are named ${tags}`,
}

/**
 * Addresses that a 402 on a known operator's own host named. Payouts of such operators are metered
 * without a proof, so a reviewer compares each with the operator's own statement.
 */
export const PROPOSED_PAYOUTS: ProposedFact = {
  kind: 'payouts',
  isPlain: false,
  propose: ({ facts }, { payouts = [] }, { tables }) => {
    const known = new Set(tables.independentOperators.map(({ domain }) => domain))
    const isOwn = (url: string) =>
      known.has(ownerDomainOf(hostOf(url) ?? '', tables.sharedHosts) ?? '')
    const isAsked = [facts.url, ...facts.http.map(({ url }) => url)].every(isOwn)
    return isAsked && facts.payout.length === 0 ? payouts.map(({ payout }) => payout) : []
  },
  add: (text, payouts) => {
    const end = text.indexOf('\n---', 4)
    return `${text.slice(0, end)}\npayout: [${payouts.map((one) => `"${one}"`).join(', ')}]${text.slice(end)}`
  },
  note: (payouts) =>
    `its 402 named ${payouts} to our probe; a payout of a known operator is metered without a proof, so accept it only if the operator names it too`,
}

/** Texts that have become orders. Once accepted, changed or not, they are not asked about again. */
export const SUSPICIOUS_TEXTS: ProposedFact = {
  kind: 'texts',
  isPlain: false,
  propose: (_file, { tools = [], skills = [] }) =>
    findSuspiciousTexts([...tools, ...skills]).map(({ name, rule }) => `${name} (${rule})`),
  add: (text) => text,
  note: (texts) =>
    `read what these tell an agent, and decide whether the listing may stay as it is: ${texts}`,
}

export function createFactQueue(
  fact: ProposedFact,
  place: ReviewPlace,
  now: () => string,
): ReviewSource {
  const { contentDir, allowPrivate } = place
  /** Each listing's file as it was first listed, by the id of its question. */
  const before = new Map<string, string>()
  const checkFile = createFileCheck(place)
  const read = (path: string) => readFile(join(contentDir, path), 'utf8')
  const list = async () => {
    if (!existsSync(join(contentDir, 'listings'))) return []
    const { content } = readContent(contentDir, { allowPrivate })
    const settled = await readSettled(contentDir)
    const questions: Question[] = []
    for (const file of content?.listings ?? []) {
      const seen = content?.evidence.get(file.id)?.interface
      if (content === null || seen === undefined) continue
      const values = fact.propose(file, seen, content)
      const question = toQuestion(fact, file.id, seen.at, values)
      if (values.length === 0 || Object.hasOwn(settled, question.id)) continue
      const written = await read(file.file)
      const text = fact.add(written, values)
      if (text === null) continue
      before.set(question.id, written)
      questions.push({ ...question, file: { path: file.file, text } })
    }
    return questions
  }
  const refuseChanged = async ({ id, listing }: Question) => {
    if (!before.has(id)) await list()
    const text = await read(listingFileOf(listing)).catch(() => '')
    if (text !== before.get(id)) throw new OperatorError(`${id}: the listing has changed meanwhile`)
  }
  return {
    kind: fact.kind,
    list,
    isPlain: () => fact.isPlain,
    settle: (questions, decision) =>
      withContent(contentDir, (writer) =>
        settleEach(questions, async (question) => {
          const file = decision.decision === 'accepted' ? question.file : undefined
          await refuseChanged(question)
          const warnings = file === undefined ? [] : checkFile(file)
          if (file !== undefined) await writer.write(file.path, file.text)
          await noteSettled(place, writer, [question], { decision, now: now() })
          return file === undefined
            ? [`${question.listing} stays as it is`]
            : [file.path, ...warnings]
        }),
      ),
  }
}

/** @example proposeTags({ tools: [{ name: 'find_ship' }] }, []) → ['find ship'] */
export function proposeTags(
  { tools = [], skills = [] }: Pick<Interface, 'tools' | 'skills'>,
  known: readonly string[],
): string[] {
  const names = [...tools, ...skills].map(({ name }) => toTag(name))
  const fitting = names.filter((tag) => tag.length <= MAX_TAG_LENGTH && TAG.test(tag))
  return [...new Set(fitting)].filter((tag) => !known.includes(tag)).slice(0, MAX_PROPOSED)
}

function toTag(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()
}

function toQuestion(
  { kind, note }: ProposedFact,
  listing: string,
  at: string,
  values: readonly string[],
): Question {
  return {
    id: `${kind}-${questionId([listing, values])}`,
    at,
    why: `proposed_${kind}`,
    from: kind,
    listing,
    note: note(values.join(', ')),
  }
}
