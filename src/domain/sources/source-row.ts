import * as v from 'valibot'
import { createListingFactsSchema } from '../listing/listing-facts.ts'
import { ID_PATTERN, MAX_ID_LENGTH } from '../listing/listing-text.ts'
import { normalizePayout, PayoutSchema } from '../listing/networks.ts'
import type { UrlRules } from '../listing/target-url.ts'
import { EvidenceSchema } from '../trust/evidence.ts'
import { CalendarDateSchema, count, InstantSchema, textLike, uniqueList } from '../wire/shapes.ts'

/** The facts about a listing that sources may give, in file order; only people write the other facts. */
export const SOURCE_FIELDS = [
  'kind',
  'name',
  'url',
  'summary',
  'categories',
  'tags',
  'pricing',
  'cost',
  'auth',
  'http',
  'invoke',
  'registry_name',
  'version',
  'discovery',
  'sources',
] as const
export type SourceField = (typeof SOURCE_FIELDS)[number]

const id = v.pipe(
  textLike(ID_PATTERN, 'expected the id of a listing, such as mcp.com.example.weather'),
  v.maxLength(MAX_ID_LENGTH),
)

export const MAX_PAYEES = 20
export const NamedPayeeSchema = v.strictObject({
  /** CAIP-10. */
  payee: PayoutSchema,
  /** How many hosts have this address as their payee, if the source says so. */
  shared_with: v.exactOptional(v.pipe(count, v.minValue(2, 'expected 2 or more'))),
})

const DeprecatedSchema = v.strictObject({
  /** Absent if the source doesn't say. */
  at: v.optional(InstantSchema),
  message: v.optional(v.pipe(v.string(), v.maxLength(200))),
})
export type Deprecated = v.InferOutput<typeof DeprecatedSchema>

/** A source's facts about one service. */
function createSourceRowSchema(rules: UrlRules) {
  const facts = v.pick(createListingFactsSchema(rules), SOURCE_FIELDS)
  return v.strictObject({
    /** The id that the row would have as a listing of its own. */
    id,
    /** The listing to which the row belongs, if people or an earlier import decided that. */
    of: v.optional(id),
    /** The day on which the service was published, or first read. */
    added: v.optional(CalendarDateSchema),
    /** The day on which the service's prices were last read, if different from `added`. */
    read: v.optional(CalendarDateSchema),
    facts: v.partial(facts),
    evidence: v.optional(
      v.pick(EvidenceSchema, ['measured', 'signals', 'reported_use', 'interface', 'sign_in']),
    ),
    /** Payees that the source names: proposals for a person to check; until then they are ignored. */
    payees: v.optional(
      uniqueList(NamedPayeeSchema, MAX_PAYEES, ({ payee }) => normalizePayout(payee)),
    ),
    /** A kit's contents and requirements, for the person who lists it. */
    skill: v.optional(SkillFactsSchema),
    /** Set if the source advises against the service, with its reason, such as a successor. */
    deprecated: v.optional(DeprecatedSchema),
    /** Words that a person must read before the row is accepted. */
    held: v.optional(v.string()),
    /** When a full run first found the row missing. */
    missing_since: v.optional(InstantSchema),
    /** When we found that the source no longer lists the service. */
    withdrawn: v.optional(InstantSchema),
  })
}
export type SourceRow = v.InferOutput<ReturnType<typeof createSourceRowSchema>>
export type SourceFacts = SourceRow['facts']

/** @returns a function that brings a row into the form of its file, so that equal rows are equal text */
export function createRowParser(rules: UrlRules): (row: object) => SourceRow {
  const schema = createSourceRowSchema(rules)
  return (row) => v.parse(schema, row)
}

/** `content/sources/<importer>/rows.json`: rows by the source's own names for them. */
export function createSourceFileSchema(rules: UrlRules) {
  return v.strictObject({
    /** How many rows the last full run accepted. */
    taken: v.optional(v.number()),
    rows: v.record(v.string(), createSourceRowSchema(rules)),
  })
}
export type SourceFile = v.InferOutput<ReturnType<typeof createSourceFileSchema>>

/** A row with the importer that wrote it, and the source's own name for it. */
export interface NamedRow {
  importer: string
  key: string
  row: SourceRow
}

/** Importers of sellers' own files and answers, which take precedence over registries and catalogues. */
const SELLERS_OWN: ReadonlySet<string> = new Set(['agent_cards', 'package_manifests'])
/** The importer that reads listings' sellers; the table has no source for its rows. */
const SELLER_READER = 'discovery'

export function isSellersOwn({ importer, row }: NamedRow): boolean {
  return importer === SELLER_READER || SELLERS_OWN.has(row.facts.sources?.[0]?.source ?? '')
}

/**
 * The order of precedence among sources: sellers' own files and answers, then registries and
 * catalogues as `tables/sources.yaml` orders them.
 */
export function orderRows(rows: readonly NamedRow[], sources: readonly string[]): NamedRow[] {
  const places = new Map(sources.map((source, place) => [source, place]))
  const rankOf = (named: NamedRow) => {
    const { importer, key, row } = named
    const source = row.facts.sources?.[0]?.source ?? ''
    const place = isSellersOwn(named) ? 0 : 1 + (places.get(source) ?? sources.length)
    return `${String(place).padStart(6, '0')} ${importer} ${key}`
  }
  return rows
    .map((each) => ({ each, rank: rankOf(each) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0))
    .map(({ each }) => each)
}

/** The same rows always give the same text, with a line for each plain fact and for each list item. */
export function renderSourceFile({ taken, rows }: SourceFile): string {
  const blocks = Object.entries(rows)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, row]) => `${JSON.stringify(key)}: ${renderMembers(row, 1)}`)
  const count = taken === undefined ? '' : `"taken": ${taken},\n`
  return `{\n${count}"rows": {\n${blocks.join(',\n')}\n}\n}\n`
}

/** Down to this depth, a value is written over several lines. */
const MAX_SPREAD = 4

function renderMembers(value: unknown, depth: number): string {
  const indent = ' '.repeat(depth)
  if (Array.isArray(value) && value.some((each) => typeof each === 'object'))
    return `[\n${value.map((each) => `${indent}${JSON.stringify(each)}`).join(',\n')}\n${indent.slice(1)}]`
  if (depth > MAX_SPREAD || typeof value !== 'object' || value === null || Array.isArray(value))
    return JSON.stringify(value)
  const members = Object.entries(value).flatMap(([name, member]) =>
    member === undefined
      ? []
      : [`${indent}${JSON.stringify(name)}: ${renderMembers(member, depth + 1)}`],
  )
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n${indent.slice(1)}}`
}

/** The source whose rows are folders in public repositories with a `SKILL.md`. */
export const SKILL_SOURCE = 'agent_skills'

/** The most entries in a list: nobody reads more at a glance. */
export const MAX_SKILL_ENTRIES = 200
const list = (shape: RegExp, expected: string) =>
  v.pipe(v.array(v.pipe(v.string(), v.regex(shape, expected))), v.maxLength(MAX_SKILL_ENTRIES))

/** Valid entries for a skill; they are foreign text, and shown unchanged. */
export const SKILL_SHAPES = {
  licence: /^[\w][\w .+()/-]{0,99}$/,
  file: /^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$))[\w .+@()/-]{1,200}$/,
  env: /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/,
  tool: /^[A-Za-z][\w-]*(?:\([\w .:*/,-]{0,80}\))?$/,
  host: /^[a-z0-9.-]+(?::\d{1,5})?$/,
} as const

/** A public skill's contents and requirements, read from its folder for the reviewer. */
const SkillFactsSchema = v.strictObject({
  licence: v.pipe(
    v.string(),
    v.regex(
      SKILL_SHAPES.licence,
      'expected the name of a licence: only letters, digits, spaces and the characters ".+()/-_"',
    ),
  ),
  /** The commit at which the folder was read. */
  commit: v.optional(v.string()),
  /** Paths in the skill's folder; absent if only its `SKILL.md` was read. */
  files: v.optional(list(SKILL_SHAPES.file, 'expected a path below the folder')),
  /** Environment variables that its text reads. */
  env: list(SKILL_SHAPES.env, 'expected the name of an environment variable'),
  /** Tools that the agent must have. */
  tools: list(SKILL_SHAPES.tool, 'expected the name of a tool'),
  /** Programs that run its scripts. */
  programs: list(/^[A-Za-z][\w.]{0,30}$/, 'expected the name of a program'),
  /** Hosts that its code blocks name. */
  hosts: list(SKILL_SHAPES.host, 'expected a host'),
})
export type SkillFacts = v.InferOutput<typeof SkillFactsSchema>

const MAX_SHOWN = 12

/**
 * A skill's contents and requirements in our words, for the notes in its listing.
 * @example describeSkill({ licence: 'MIT', env: [], tools: [], programs: ['Python'], hosts: [] }) →
 *   'Its scripts need Python. Licensed under MIT.'
 */
export function describeSkill(skill: SkillFacts): string {
  const { licence, files = [], env, tools, programs, hosts } = skill
  const isElsewhere = licence.startsWith('see ')
  return [
    programs.length > 0 && `Its scripts need ${join(programs)}.`,
    env.length > 0 && `It reads ${joinCode(env)} from the environment.`,
    tools.length > 0 && `The agent needs these tools: ${joinCode(tools)}.`,
    hosts.length > 0 && `Its code blocks contain the hosts ${joinCode(hosts)}.`,
    files.length > 1 && `Its files: ${joinCode(files)}.`,
    isElsewhere ? `Its licence is in \`${licence.slice(4)}\`.` : `Licensed under ${licence}.`,
  ]
    .filter((sentence) => sentence !== false)
    .join(' ')
}

function joinCode(names: readonly string[]): string {
  return join(names.map((name) => `\`${name}\``))
}

function join(names: readonly string[]): string {
  const shown = names.slice(0, MAX_SHOWN)
  const more = names.length - shown.length
  const all = more > 0 ? [...shown, `${more} more`] : shown
  return all.length < 2 ? (all[0] ?? '') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
}
