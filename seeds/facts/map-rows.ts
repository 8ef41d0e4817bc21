import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { parse } from 'yaml'
import type { FoundSeller } from '../../functions/probes/find-seller.ts'
import type { SourceRow } from '../../src/domain/derived/tables.ts'
import {
  createListingFactsSchema,
  type ListingFacts,
} from '../../src/domain/listing/listing-facts.ts'
import { isListingId } from '../../src/domain/listing/listing-text.ts'
import { normalizePayout } from '../../src/domain/listing/networks.ts'
import { findOperationFaults } from '../../src/domain/listing/operation.ts'
import { withAsciiHosts } from '../../src/domain/listing/target-url.ts'
import { marksOf } from '../../src/domain/sources/place-rows.ts'
import {
  type Deprecated,
  MAX_PAYEES,
  type NamedPayee,
  type SkillFacts,
  type SourceField,
} from '../../src/domain/sources/source-row.ts'
import { eachOnce, isJsonObject } from '../../src/domain/wire/json.ts'
import type { IdPrefix } from '../../src/domain/wire/vocabulary.ts'
import { type createTaskFinder, toPathName } from '../../src/search/words/operation-tasks.ts'
import { addressSlug } from '../text/address-slug.ts'
import type { Fault, HostRules, Refusal } from './refusal.ts'
import { toSeedTags, toSeedTexts } from './seed-texts.ts'

export type MappedSeed =
  | { ok: true; seed: Seed; dropped: readonly Refusal[] }
  /** `held` is what would be listed if a reviewer found nothing wrong with its words. */
  | { ok: false; refusal: Refusal; held?: Seed }

/** @param key the member that names a row */
export function parseRow<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  key: string,
): { row: v.InferOutput<Schema> } | { ok: false; refusal: Refusal } {
  const result = v.safeParse(schema, withAsciiHosts(value))
  if (result.success) return { row: result.output }
  const name = isJsonObject(value) && typeof value[key] === 'string' ? value[key] : `(no ${key})`
  return refuse(name.slice(0, 250), {
    reason: 'invalid_row',
    detail: describeIssue(result.issues[0], 'row'),
  })
}

/** @param whole the error where no single member is wrong */
export function describeIssue(issue: v.BaseIssue<unknown>, whole: string): string {
  return `${v.getDotPath(issue) ?? whole}: ${issue.message}`
}

export function refuse(name: string, { reason, ...about }: Omit<Refusal, 'name'>) {
  return { ok: false as const, refusal: { reason, name, ...about } }
}

/** Facts of every API that a catalogue of paid ones lists. */
export const PAID_API = { kind: 'http_api', cost: 'paid', auth: { type: 'payment' } } as const

/** A source's facts of one service, member by member: the table that an importer fills in. */
export interface Reported extends Partial<Omit<Seed, 'facts' | 'id'>> {
  key: string
  prefix: IdPrefix
  /** Its address's by default. */
  slug?: string
  /** Its names, best first. */
  names: readonly Foreign[]
  /** Its own descriptions, best first. */
  stated: readonly Foreign[]
  tags?: readonly unknown[]
  /** Text for guessing its categories, in addition to its name, its description and its tags. */
  words?: readonly Foreign[]
  /** Or why there are none that can be listed. */
  facts: (Pick<ListingFacts, 'kind' | 'sources'> & SeedFacts) | Fault
  dropped?: readonly Refusal[]
}
type Foreign = string | null | undefined

/** The mapping that all importers share: only a valid listing with harmless words goes on. */
export function mapReported({ dropped, ...reported }: Reported, rules: MapRules): MappedSeed {
  const seed = toSeed(reported, rules)
  if (!('reason' in seed)) return finishSeed(seed, dropped)
  return refuse(reported.key, { ...seed, rows: reported.rows ?? 1 })
}

export function toSeed(
  { names, stated, words = [], facts, tags: foreign = [], prefix, slug, ...reported }: Reported,
  rules: MapRules,
): Seed | Fault {
  const texts = toSeedTexts(names, stated)
  if ('reason' in texts) return texts
  if ('reason' in facts) return facts
  const { name, summary, description, suspicious } = texts
  const tags = toSeedTags(foreign)
  const all = [description, ...tags, ...words].join(' ')
  const categories = guessCategories(name, all, rules.categories)
  return {
    id: `${prefix}.${slug ?? addressSlug(facts.url)}`,
    rows: 1,
    suspicious,
    ...reported,
    facts: { name, summary, categories, ...(tags.length > 0 && { tags }), ...facts },
  }
}

export function finishSeed(seed: Seed, dropped: readonly Refusal[] = []): MappedSeed {
  const { key, rows, suspicious } = seed
  const fault = findSeedFault(seed)
  if (fault !== null) return refuse(key, { reason: 'invalid_listing', detail: fault, rows })
  if (suspicious === undefined) return { ok: true, seed, dropped }
  const detail = `expected a description, got ${JSON.stringify(suspicious)}`
  return { ...refuse(key, { reason: 'instruction_like_text', detail, rows }), held: seed }
}

/** Maps rows of one shape to listings, each on its own. @param key the member that names a row */
export function chooseRows<Schema extends v.GenericSchema>(
  schema: Schema,
  key: string,
  map: (row: v.InferOutput<Schema>, rules: MapRules) => MappedSeed,
) {
  return (values: readonly unknown[], rules: MapRules): ChosenSeeds =>
    gatherSeeds(
      values.map((value) => {
        const parsed = parseRow(schema, value, key)
        return 'row' in parsed ? map(parsed.row, rules) : parsed
      }),
    )
}

/** How to tell that two seeds of a source are the same service, unless it says so itself. */
const BY_ANY_MARK = {
  /** The first of two in this order stays, whatever order the source had. */
  rankOf: ({ key }: Seed) => key,
  marksOf: ({ key, facts }: Seed): readonly string[] => [`key ${key}`, ...marksOf(facts)],
  /** Whether a seed that shares one mark is dropped, or only one that shares them all. */
  isAnyEnough: true,
}

/** The last step of `choose`: mapped rows sorted by their outcome, each service once. */
export function gatherSeeds(mapped: readonly MappedSeed[], same = BY_ANY_MARK): ChosenSeeds {
  const owners = new Map<string, string>()
  const inOrder = mapped
    .filter((each) => each.ok)
    .map((each) => ({ each, rank: same.rankOf(each.seed) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
  const judged = inOrder.map(({ each }): MappedSeed => {
    const { key, rows } = each.seed
    const marks = same.marksOf(each.seed)
    const taken = marks.filter((mark) => owners.has(mark))
    if (taken.length > 0 && (same.isAnyEnough || taken.length === marks.length)) {
      const others = new Set(taken.map((mark) => owners.get(mark)))
      const detail = `expected a service of its own; ${taken.join(', ')} is ${[...others].join(', ')}`
      return refuse(key, { reason: 'same_endpoints', detail, rows })
    }
    for (const mark of marks) if (!owners.has(mark)) owners.set(mark, key)
    return each
  })
  const listed = judged.filter((each) => each.ok)
  const refused = [...mapped, ...judged].filter((each) => !each.ok)
  return {
    seeds: listed.map(({ seed }) => seed).sort((a, b) => (a.key < b.key ? -1 : 1)),
    refused: refused.map(({ refusal }) => refusal),
    dropped: listed.flatMap(({ dropped }) => dropped),
    held: refused.flatMap(({ held }) => held ?? []),
    deleted: refused.flatMap(({ refusal: { reason, name } }) =>
      reason === 'deleted' ? [name] : [],
    ),
  }
}

/** A source's facts on a listing; a field it has nothing for is absent. */
type SeedFacts = Pick<ListingFacts, 'url'> & Partial<Pick<ListingFacts, SourceField>>

export type SeedEvidence = Readonly<Record<string, unknown>>

/** A listing as a source describes it, before it is compared with existing listings. */
export interface Seed {
  key: string
  /** Of the listing it would be by itself, or that it adds to. */
  id: string
  facts: SeedFacts
  /** Day it was first published, `2026-11-20`; absent where the source doesn't say. */
  published?: string | undefined
  /** It only adds to the listing of its id, which is there. */
  adds?: true
  /** How many of the source's rows it was made from. */
  rows: number
  evidence?: SeedEvidence
  /** For a kit: its contents and requirements. */
  skill?: SkillFacts
  /** Facts used to judge it that no file keeps: words that remain their writer's. */
  withheld?: readonly SourceField[]
  /** The payees that its source names, each once: none makes a payment count. */
  payees?: readonly NamedPayee[]
  deprecated?: Deprecated
  /** Words in the source's text that a reviewer should see first. */
  suspicious?: string | undefined
}

/** Accounts (CAIP-10) that a source names, each once and sorted. */
export function toPayees(accounts: readonly string[]): NamedPayee[] {
  const sorted = eachOnce(accounts, normalizePayout).sort()
  return sorted.slice(0, MAX_PAYEES).map((payee) => ({ payee }))
}

const schema = createListingFactsSchema({ allowPrivate: false })

function findSeedFault({ id, facts }: Pick<Seed, 'id' | 'facts'>): string | null {
  if (!isListingId(id)) return `id: expected <prefix>.<slug> of at most 120 characters, got ${id}`
  const result = v.safeParse(schema, { ...facts, added: '2000-01-01' })
  if (result.success) {
    const [fault] = findOperationFaults(result.output)
    return fault === undefined ? null : `${fault.path.join('.')}: ${fault.message}`
  }
  const [issue] = result.issues
  return `${v.getDotPath(issue) ?? 'listing'}: ${issue.message}`
}

export interface ListedFacts {
  id: string
  facts: { [Name in keyof ListingFacts]?: ListingFacts[Name] | undefined }
}

/** Existing data that a source's rows are compared with while they are mapped. */
export interface MapRules extends HostRules {
  categories: ReadonlySet<string>
  sources: readonly SourceRow[]
  now: string
}

export interface SourcePage {
  values: unknown[]
  refused: Refusal[]
  /** Address of the next page, from the one just read; null at the end. */
  next: URL | null
}

/** Mapped foreign rows: every row is in exactly one of `seeds`, `refused`, `deleted`. */
export interface ChosenSeeds {
  seeds: Seed[]
  refused: Refusal[]
  /** Parts left out of listings that are otherwise imported: remotes, prices, operations. */
  dropped: Refusal[]
  /** Refused only for their words, as they would be listed: for the review queue. */
  held: Seed[]
  /** Keys that the source itself says are gone; their rows are among the refused. */
  deleted: readonly string[]
}

/** How a source's texts hold its rows: a list, a page around one, one row, or one per line. */
export interface RowShape {
  /** Names under which a page holds its rows, as a list or by their names. */
  lists: readonly string[]
  /** What a page or a line should be, for the message. */
  expected: string
  isRow(value: Record<string, unknown>): boolean
  /** Whether a text of addresses, one per line, is rows too. */
  takesAddresses?: boolean
  takesYaml?: boolean
  /** Whether a text is lines of values under the names of their columns; `#` starts a remark. */
  takesCsv?: boolean
  /** Member of a saved page that says when it was saved: each of its rows carries it. */
  savedAt?: string
}

/** An importer: where its rows are, how a text holds them, and how they are mapped. */
export interface SeedSource {
  id: string
  title: string
  /** Null where only a file is read; empty where the listings themselves are. */
  liveUrl: string | null
  /** True where a whole run shows everything there is, so that what is missing is gone. */
  promisesAll: boolean
  /** Its rows only add to listings that are there. */
  addsOnly?: boolean
  shape: RowShape
  /** A row with the folder of its file, where files of one folder describe one service. */
  place?(row: unknown, folder: string | null): unknown
  choose(values: readonly unknown[], rules: MapRules): ChosenSeeds
  /** Reads documents where rows are addresses: cards, sellers' files. Never throws for one. */
  follow?(
    values: readonly unknown[],
    reader: SellerReader,
  ): Promise<{ values: unknown[]; refused: Refusal[] }>
  /** Rows made from existing listings, for a source that reads the listings' sellers. */
  fromContent?(listings: readonly ListedFacts[]): unknown[]
  /** Parameter of its address that asks for rows changed since an instant. */
  sinceParameter?: string
}

export type SellerAnswer = { ok: true; text: string } | { ok: false; detail: string }

/** Reads addresses from a source or a listing: guarded like the relay, limited, no redirects. */
export interface SellerReader {
  read(url: string): Promise<SellerAnswer>
  find(origin: string): Promise<FoundSeller>
  /** Maps a list with asynchronous work, a few at a time, in the list's order. */
  each<Item, Result>(
    items: readonly Item[],
    work: (item: Item) => Promise<Result>,
  ): Promise<Result[]>
  close(): Promise<void>
}

/** A row of a source, each operation with its task where one is named. */
export function withTasks(seed: Seed, findTask: ReturnType<typeof createTaskFinder>): Seed {
  const { facts, id } = seed
  if (facts.http === undefined) return seed
  const listing = { ...facts, id }
  const http = facts.http.map((operation) => {
    const { url, description } = operation
    const task = findTask({ name: toPathName(url), description, kind: 'operation' }, listing)
    return task === null ? operation : { ...operation, task }
  })
  return { ...seed, facts: { ...facts, http } }
}

/** The default where no word matches: a server for agents is first of all a developer's tool. */
const DEFAULT_CATEGORY = 'developer_tools'

const KEYWORDS = v.parse(
  v.record(v.string(), v.string()),
  parse(readFileSync(new URL('./category-words.yaml', import.meta.url), 'utf8')),
)

const NAME_WEIGHT = 3
const TEXT_WEIGHT = 1
/** A second category must be about as well supported as the first. */
const SECOND_SHARE = 0.6
const SECOND_LEAST = 2

/** Keywords as words: each matches a text with them in sequence, the last one as a stem. */
const ALL = Object.entries(KEYWORDS).flatMap(([category, keywords]) =>
  keywords
    .split(',')
    .map((text) => ({ category, words: toWords(text), isStem: text.endsWith('*') })),
)
/** Words are looked up, not searched for: 350 patterns over 4,000 texts would cost seconds. */
const BY_START = Map.groupBy(ALL, ({ words }) => words[0]?.slice(0, 2))

/**
 * One or two categories by the words of a name and a description; deterministic, so that a second
 * import says the same.
 *
 * @param known ids of the category table; no others are returned.
 */
export function guessCategories(name: string, text: string, known: ReadonlySet<string>): string[] {
  const [inName, inText] = [countWords(name), countWords(text)]
  const scores = Object.keys(KEYWORDS)
    .filter((id) => known.has(id))
    .map((id) => ({
      id,
      score: NAME_WEIGHT * (inName.get(id)?.size ?? 0) + TEXT_WEIGHT * (inText.get(id)?.size ?? 0),
    }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
  const [first, second] = scores
  if (first === undefined) return known.has(DEFAULT_CATEGORY) ? [DEFAULT_CATEGORY] : []
  const hasSecond =
    second !== undefined &&
    second.score >= SECOND_LEAST &&
    second.score >= first.score * SECOND_SHARE
  return hasSecond ? [first.id, second.id] : [first.id]
}

/** Different words count, not one word repeated. */
function countWords(text: string): Map<string, Set<string>> {
  const counts = new Map<string, Set<string>>()
  const words = toWords(text)
  words.forEach((word, at) => {
    for (const keyword of findKeywords(words, word, at)) {
      const found = counts.get(keyword.category) ?? new Set()
      found.add(keyword.words.length === 1 ? word : keyword.words.join(' '))
      counts.set(keyword.category, found)
    }
  })
  return counts
}

function findKeywords(words: readonly string[], word: string, at: number) {
  return (BY_START.get(word.slice(0, 2)) ?? []).filter(({ words: parts, isStem }) =>
    parts.every((part, i) => {
      const there = words[at + i] ?? ''
      const isLast = i === parts.length - 1
      if (!isLast || !isStem) return there === part
      // One word's stem ends before a number: "mail*" is not "mail2000".
      return there.startsWith(part) && (i > 0 || !/\d/.test(there.slice(part.length)))
    }),
  )
}

function toWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}
