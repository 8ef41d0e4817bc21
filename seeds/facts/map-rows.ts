import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { parse } from 'yaml'
import type { SourceRow } from '../../src/domain/derived/tables.ts'
import {
  createListingFactsSchema,
  type ListingFacts,
} from '../../src/domain/listing/listing-facts.ts'
import {
  findTextFault,
  isListingId,
  MAX_ID_LENGTH,
  MAX_NAME_LENGTH,
  MAX_SUMMARY_LENGTH,
  MAX_TAG_LENGTH,
} from '../../src/domain/listing/listing-text.ts'
import { normalizePayout } from '../../src/domain/listing/networks.ts'
import { findOperationFaults } from '../../src/domain/listing/operation.ts'
import {
  findUrlFault,
  isIpHost,
  isPlaceholderHost,
  isTunnelHost,
  withAsciiHosts,
} from '../../src/domain/listing/target-url.ts'
import { judgeAddress } from '../../src/domain/relay/address-verdict.ts'
import { marksOf } from '../../src/domain/sources/join-rows.ts'
import {
  type Deprecated,
  MAX_PAYEES,
  type NamedPayeeSchema,
  type SkillFacts,
  type SourceField,
} from '../../src/domain/sources/source-row.ts'
import { toTemplate } from '../../src/domain/sources/x402-manifest.ts'
import { eachOnce, isJsonObject } from '../../src/domain/wire/json.ts'
import { cutText } from '../../src/domain/wire/text.ts'
import type { IdPrefix } from '../../src/domain/wire/vocabulary.ts'
import { type createTaskFinder, toPathName } from '../../src/search/words/operation-tasks.ts'
import { findInstruction, toPlainText } from './seed-texts.ts'

/** The result for a row: a listing, a refusal, or both if a listing was made but is refused. */
export type Mapped =
  | { seed: Seed; refusal?: undefined }
  | { seed?: Seed | undefined; refusal: Refusal }

/** @param key the member that names a row */
export function parseRow<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  key: string,
): { row: v.InferOutput<Schema> } | { refusal: Refusal } {
  const result = v.safeParse(schema, withAsciiHosts(value))
  if (result.success) return { row: result.output }
  const name = isJsonObject(value) && typeof value[key] === 'string' ? value[key] : `(no ${key})`
  return refuse(name.slice(0, 250), {
    reason: 'invalid_row',
    detail: describeIssue(result.issues[0], 'row'),
  })
}

/** @param whole the name to use if no single member is wrong */
export function describeIssue(issue: v.BaseIssue<unknown>, whole: string): string {
  return `${v.getDotPath(issue) ?? whole}: ${issue.message}`
}

export function refuse(name: string, { reason, ...about }: Omit<Refusal, 'name'>) {
  return { refusal: { reason, name, ...about } }
}

/** Facts about every API in a catalogue of paid APIs. */
export const PAID_API = { kind: 'http_api', cost: 'paid', auth: { type: 'payment' } } as const

/** A source's facts about one service, member by member: the table that an importer fills in. */
export interface Reported extends Partial<Omit<Seed, 'facts' | 'id'>> {
  key: string
  prefix: IdPrefix
  /** The listing's slug; by default that of the service's address. */
  slug?: string
  /** The service's names, best first. */
  names: readonly Foreign[]
  /** The service's own descriptions, best first. */
  stated: readonly Foreign[]
  tags?: readonly unknown[]
  /** Text for guessing the service's categories, in addition to its name, description and tags. */
  words?: readonly Foreign[]
  /** The facts, or the reason why nothing can be listed. */
  facts: (Pick<ListingFacts, 'kind' | 'sources'> & SeedFacts) | Fault
}
type Foreign = string | null | undefined

/** The mapping that all importers share: only a valid listing with harmless words goes on. */
export function mapReported(
  { names, stated, words = [], facts, tags: foreign = [], prefix, slug, ...reported }: Reported,
  rules: MapRules,
): Mapped {
  const { key, rows = 1 } = reported
  const texts = toSeedTexts(names, stated)
  if ('reason' in texts) return refuse(key, { ...texts, rows })
  if ('reason' in facts) return refuse(key, { ...facts, rows })
  const { name, summary, description, suspicious } = texts
  const tags = toSeedTags(foreign)
  const all = [description, ...tags, ...words].join(' ')
  const categories = guessCategories(name, all, rules.categories)
  const seed: Seed = {
    id: `${prefix}.${slug ?? addressSlug(facts.url)}`,
    suspicious,
    ...reported,
    rows,
    facts: { name, summary, categories, ...(tags.length > 0 && { tags }), ...facts },
  }
  const fault = findSeedFault(seed)
  if (fault !== null)
    return { seed, ...refuse(key, { reason: 'invalid_listing', detail: fault, rows }) }
  if (suspicious === undefined) return { seed }
  const detail = `expected a description, got ${JSON.stringify(suspicious)}`
  return { seed, ...refuse(key, { reason: 'instruction_like_text', detail, rows }) }
}

/** Maps rows of one shape to listings, each on its own. @param key the member that names a row */
export function chooseRows<Schema extends v.GenericSchema>(
  schema: Schema,
  key: string,
  map: (row: v.InferOutput<Schema>, rules: MapRules) => Mapped,
) {
  return (values: readonly unknown[], rules: MapRules): ChosenSeeds =>
    gatherSeeds(
      values.map((value) => {
        const parsed = parseRow(schema, value, key)
        return 'row' in parsed ? map(parsed.row, rules) : parsed
      }),
    )
}

/** How two seeds are recognised as the same service, unless the source has its own rule. */
const BY_ANY_MARK = {
  /** If two seeds are equal, the first in this order stays, whatever the source's order. */
  rankOf: ({ key }: Seed) => key,
  marksOf: ({ key, facts }: Seed): readonly string[] => [`key ${key}`, ...marksOf(facts)],
  /** True: one shared mark drops a seed. False: a seed is dropped only if another shares all its marks. */
  isAnyEnough: true,
}

/** The last step of `choose`: mapped rows sorted by their outcome, each service once. */
export function gatherSeeds(mapped: readonly Mapped[], same = BY_ANY_MARK): ChosenSeeds {
  const owners = new Map<string, string>()
  const inOrder = mapped
    .flatMap(({ seed, refusal }) => (refusal === undefined && seed !== undefined ? [seed] : []))
    .map((seed) => ({ seed, rank: same.rankOf(seed) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
  const seeds: Seed[] = []
  const refused = mapped.flatMap(({ refusal }) => refusal ?? [])
  for (const { seed } of inOrder) {
    const { key, rows } = seed
    const marks = same.marksOf(seed)
    const taken = marks.filter((mark) => owners.has(mark))
    if (taken.length > 0 && (same.isAnyEnough || taken.length === marks.length)) {
      const others = new Set(taken.map((mark) => owners.get(mark)))
      const detail = `expected a service that is not listed yet; ${taken.join(', ')} belongs to ${[...others].join(', ')}`
      refused.push({ reason: 'same_endpoints', name: key, detail, rows })
      continue
    }
    for (const mark of marks) if (!owners.has(mark)) owners.set(mark, key)
    seeds.push(seed)
  }
  const held = mapped.flatMap(({ seed, refusal }) =>
    refusal?.reason === 'instruction_like_text' && seed !== undefined ? [seed] : [],
  )
  return { seeds: seeds.sort((a, b) => (a.key < b.key ? -1 : 1)), refused, held }
}

/** A source's facts about a listing; a field that the source does not state is absent. */
type SeedFacts = Pick<ListingFacts, 'url'> & Partial<Pick<ListingFacts, SourceField>>

export type SeedEvidence = Readonly<Record<string, unknown>>

/** A listing as a source describes it, before it is compared with existing listings. */
export interface Seed {
  key: string
  /** Id of the new listing, or of the existing listing that the seed adds to. */
  id: string
  facts: SeedFacts
  /** Day of first publication, `2026-11-20`; absent if the source doesn't say. */
  published?: string | undefined
  /** Set if the seed only adds to the existing listing with its id. */
  adds?: true
  /** How many of the source's rows the seed was made from. */
  rows: number
  evidence?: SeedEvidence
  /** For a kit: its contents and requirements. */
  skill?: SkillFacts
  /** Fields used to judge the seed but never written to a file, because their text is somebody else's. */
  withheld?: readonly SourceField[]
  /** The payees that the source names, each once; no payment is accepted because a payee is named here. */
  payees?: readonly NamedPayee[]
  deprecated?: Deprecated
  /** Parts that were left out of the seed: remotes, prices, operations. */
  dropped?: readonly Refusal[]
  /** Words in the source's text that a reviewer should see first. */
  suspicious?: string | undefined
}

type NamedPayee = v.InferOutput<typeof NamedPayeeSchema>

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

/** Existing data with which a source's rows are compared while they are mapped. */
export interface MapRules extends HostRules {
  categories: ReadonlySet<string>
  sources: readonly SourceRow[]
  now: string
}

/** Mapped foreign rows: every row is in exactly one of `seeds` and `refused`. */
export interface ChosenSeeds {
  seeds: Seed[]
  refused: Refusal[]
  /** Seeds refused only for their words, kept for the review queue. */
  held: Seed[]
}

/** A source's row in which each operation has the task that its words name, if any. */
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

/**
 * Why a row that a source published is not imported. The list is closed: every refusal is counted under
 * one reason and printed with its name, so that nothing is lost silently.
 */
export const REFUSAL_REASONS = {
  unreadable_row: 'not a JSON object',
  row_too_large: 'longer than a row may be',
  invalid_row: 'not of the published shape',
  duplicate_name: 'another row with the same name is newer, or came first',
  not_latest: 'not the latest version',
  deleted: 'deleted at the source',
  inactive: 'not offered any more, according to its source',
  source_terms: 'published only under terms that do not allow copying its text',
  no_name: 'no readable name',
  no_description: 'no description',
  no_licence: 'no licence that says what others may do with it',
  misleading_text: 'text that forges letters',
  instruction_like_text: 'text that gives orders to an agent',
  no_url: 'no web page, repository or package page to link to',
  no_invoke: 'no remote and no package',
  template_url: 'an address with placeholders to fill in',
  private_url: 'an address that only its owner can reach',
  invalid_url: 'not a public https address',
  tunnel_host: 'a temporary tunnel to somebody’s machine',
  placeholder_host: 'a placeholder host from documentation',
  unknown_transport: 'a transport that MCP does not have',
  unknown_registry: 'a package registry that the MCP registry does not know',
  invalid_identifier: 'not a name in its package registry',
  unsupported_network: 'no network named as eip155:<id> or solana:<reference>',
  test_network: 'test networks only',
  ceiling_price: 'a ceiling or a deferred amount, not what one call costs',
  price_too_high: 'more than any call costs: a mistake in decimals, or a decoy',
  malformed_amount: 'not a whole number of atomic units',
  unknown_asset: 'a coin that is not known to be worth a dollar',
  known_fake: 'known to be made up',
  unreadable_seller: 'a seller that could not be read',
  nothing_found: 'no document in which the seller describes itself',
  not_listed: 'not listed here',
  same_endpoints: 'everything it offers is listed under another name',
  opted_out: 'its owner asked not to be listed',
  invalid_listing: 'not a valid listing after mapping',
} as const

export type RefusalReason = keyof typeof REFUSAL_REASONS

export interface Fault {
  reason: RefusalReason
  /** What was wrong, where, and what would be right. It may contain foreign text: print it through `toPrintable`. */
  detail: string
}

export function faultOf(reason: RefusalReason, detail: string): Fault {
  return { reason, detail }
}

export interface Refusal extends Fault {
  /** The row's key in the source; foreign text too. */
  name: string
  /** How many rows of the source the refusal covers; one by default. */
  rows?: number
}

export interface HostRules {
  /** Allows hosts that end in `.example`, for trials with fictional sellers. */
  allowPlaceholders: boolean
}

/**
 * A stricter rule than the content's own, since nobody reviews a seeded row: templates in paths,
 * tunnels and placeholder hosts are refused too.
 * @returns null for an address that a stranger can call unchanged
 */
export function findCallableUrlFault(text: string, { allowPlaceholders }: HostRules): Fault | null {
  const url = URL.parse(text)
  const host = url?.hostname.replace(/\.$/, '') ?? ''
  const shown = JSON.stringify(text.slice(0, 200))
  if (/[{}<>]|%7b|%7d|\$[A-Z_]+/i.test(text) || PATH_PARAMETER.test(url?.pathname ?? ''))
    return faultOf('template_url', `expected a URL without placeholders to fill in, got ${shown}`)
  const fault = findUrlFault(text, { allowPrivate: false })
  if (fault !== null)
    return faultOf(isPrivate(host) ? 'private_url' : 'invalid_url', `${shown}: ${fault}`)
  if (isTunnelHost(host))
    return faultOf('tunnel_host', `expected a lasting host, got the tunnel ${host}`)
  return !allowPlaceholders && isPlaceholderHost(host)
    ? faultOf('placeholder_host', `expected a real host, got ${host}`)
    : null
}

const PATH_PARAMETER = /\/(?::[A-Za-z_]|\[[A-Za-z_])/

function isPrivate(host: string): boolean {
  if (isIpHost(host))
    return !judgeAddress(host.replace(/^\[|\]$/g, ''), { allowPrivate: false }).allowed
  return /^(?:localhost|[^.]+)$|\.(?:local|localhost|internal|intranet|lan|home\.arpa)$/.test(host)
}

/** Why an address cannot be called, whatever values fill its path; null if it can be called. */
export function findOperationAddressFault(text: string, rules: HostRules) {
  const { path: url } = toTemplate(text)
  const [, start = '', path = '', rest = ''] =
    /^([a-z]+:\/\/[^/?#]*)([^?#]*)(.*)$/is.exec(url) ?? []
  return findCallableUrlFault(start + path.replace(/\{\w+\}/g, 'x') + rest, rules)
}

export function leftOut(name: string, left: number): Refusal[] {
  const detail = `${left} operations beyond the limit of a listing`
  return left === 0 ? [] : [{ reason: 'row_too_large', name, detail }]
}

/** Text members of rows that strangers publish: length is limited, and null means absent. */
const MAX_TEXT = 20_000
export const foreignText = v.pipe(
  v.string('expected text'),
  v.maxLength(MAX_TEXT, `expected at most ${MAX_TEXT} characters`),
)
/** A time to the second, as in evidence; null for any other text. */
export function toInstant(instant: string | null | undefined): string | null {
  const whole = (instant ?? '').replace(/T(\d\d)(\d\d)(?=\d\d)/, 'T$1:$2:')
  const time = /^\d{4}-\d\d-\d\dT/.test(whole) ? Date.parse(whole) : Number.NaN
  return Number.isNaN(time) ? null : new Date(time).toISOString().replace(/\.\d{3}Z$/, 'Z')
}

export const optionalFlag = v.nullish(v.boolean())
export const optionalList = v.nullish(v.array(v.unknown()))

export const foreignTexts = <const Names extends readonly string[]>(...names: Names) =>
  v.entriesFromList(names, v.nullish(foreignText))
export const foreignNumbers = <const Names extends readonly string[]>(...names: Names) =>
  v.entriesFromList(names, v.nullish(v.number()))

const HASH_LENGTH = 8
/** Leaves room for the longest prefix and its dot. */
const MAX_SLUG_LENGTH = MAX_ID_LENGTH - 'x402.'.length

/**
 * An address's slug. It depends on the address alone, so that every import gives the same id. A
 * host without a path is its own slug; an address with a path ends in a hash of the whole address.
 * @example addressSlug('https://www.weather.example/') → 'weather.example'
 * @example addressSlug('https://hub.example/agent/7/tides') → 'hub.example.tides-1f0c3a7b'
 */
export function addressSlug(address: string): string {
  const url = URL.parse(address)
  const host = (url?.host ?? address).replace(/^www\./, '')
  const path = (url?.pathname ?? '').replace(/\/+$/, '')
  const last = path.split('/').at(-1) ?? ''
  return toSlug(last === '' ? host : `${host}.${last}`, `${host}${path}`, {
    room: MAX_SLUG_LENGTH,
    nameless: 'listing',
    isPlain: path === '' && /^[a-z0-9]+(?:[._-][a-z0-9]+)*$/.test(host),
  })
}

/**
 * A readable text as a slug. A hash of the identity is added if the text is not the whole identity, is
 * too long, or ends like a hash.
 */
export function toSlug(
  text: string,
  identity: string,
  { room, isPlain, nameless }: { room: number; isPlain: boolean; nameless: string },
): string {
  const slug = tidySlug(text)
  const looksHashed = new RegExp(`-[0-9a-f]{${HASH_LENGTH}}$`).test(identity)
  if (isPlain && !looksHashed && slug.length <= room) return slug
  const digest = hash('sha256', identity, 'hex').slice(0, HASH_LENGTH)
  return `${tidySlug(slug.slice(0, room - HASH_LENGTH - 1)) || nameless}-${digest}`
}

/** Lower case, one separator between words, none at the ends: what an id allows. */
function tidySlug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/([._-])[._-]+/g, '$1')
    .replace(/^[._-]+|[._-]+$/g, '')
}

const MAX_TAGS = 10

/**
 * A name and a summary from foreign words.
 * @param names a seller's names, best first; the first with words in it is used
 * @param stated a seller's own descriptions, also best first
 */
function toSeedTexts(names: readonly Foreign[], stated: readonly Foreign[]) {
  const name = cutText(firstReadable(names) ?? '', MAX_NAME_LENGTH)
  if (name === '') return faultOf('no_name', 'expected a readable title')
  const description = firstReadable(stated)
  if (description === null) return faultOf('no_description', 'expected a sentence in description')
  const summary = cutText(description, MAX_SUMMARY_LENGTH)
  for (const [field, text] of Object.entries({ title: name, description: summary })) {
    const fault = findTextFault(text)
    if (fault !== null) return faultOf('misleading_text', `${field}: ${fault}`)
  }
  const suspicious = findInstruction([...names, ...stated].filter((text) => text).join(' '))
  return { name, summary, description, ...(suspicious !== null && { suspicious }) }
}

/** Foreign words as tags: readable, short, each once. */
function toSeedTags(words: readonly unknown[]): string[] {
  const tags = words
    .filter((word) => typeof word === 'string')
    .slice(0, 100)
    .map((word) => toPlainText(word).toLowerCase())
    .filter((tag) => tag !== '' && tag.length <= MAX_TAG_LENGTH && findTextFault(tag) === null)
    .filter((tag) => findInstruction(tag) === null)
  return [...new Set(tags)].slice(0, MAX_TAGS)
}

function firstReadable(texts: readonly Foreign[]): string | null {
  const plain = texts.map((text) => toPlainText(text ?? ''))
  return plain.find((text) => /[\p{L}\p{N}]/u.test(text)) ?? null
}

/** The category if no word matches: a server for agents is first of all a developer's tool. */
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

/** A pattern for each category's keywords, for text with spaces around every word. */
const PATTERNS = Object.entries(KEYWORDS).map(([id, keywords]) => {
  const parts = keywords.split(',').map((text) => {
    const words = toWords(text).join(' ')
    if (!text.endsWith('*')) return `${words}(?= )`
    // A keyword's stem matches no digits after it: "mail*" is not "mail2000".
    return words.includes(' ') ? words : `${words}\\D*?(?= )`
  })
  return { id, pattern: new RegExp(` (?=(${parts.join('|')}))`, 'gu') }
})

/**
 * One or two categories by the words in a name and a description; deterministic, so that a second
 * import gives the same categories.
 * @param known ids in the category table; no others are returned
 */
function guessCategories(name: string, text: string, known: ReadonlySet<string>): string[] {
  const [inName = '', inText = ''] = [name, text].map((each) => ` ${toWords(each).join(' ')} `)
  const scores = PATTERNS.filter(({ id }) => known.has(id))
    .map(({ id, pattern }) => ({
      id,
      score: NAME_WEIGHT * countWords(inName, pattern) + TEXT_WEIGHT * countWords(inText, pattern),
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

/** Counts different words: a repeated word is counted once. */
function countWords(text: string, pattern: RegExp): number {
  return new Set([...text.matchAll(pattern)].map(([, found]) => found)).size
}

function toWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}
