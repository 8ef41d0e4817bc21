import * as v from 'valibot'
import { SharedHostsSchema } from '../sellers/claim-rules.ts'
import { NotListedSchema } from '../sellers/not-listed.ts'
import { type TaskRow, TaskRowSchema, TaskWordsSchema } from '../tasks/task.ts'
import { AgesSchema } from '../trust/age.ts'
import { OWN_EVIDENCE } from '../trust/evidence.ts'
import { count, textLike } from '../wire/shapes.ts'
import { EFFECTS } from '../wire/vocabulary.ts'

const SOURCE_DECISIONS = ['used', 'facts_only', 'link_out', 'refused'] as const

const line = v.pipe(v.string(), v.maxLength(600))
const webUrl = textLike(/^(?:https:\/\/|\{base_url\})/, 'expected an https URL')

/** One row in `tables/sources.yaml`: where listing data comes from, and on what terms. */
export const SourceRowSchema = v.strictObject({
  id: textLike(/^[A-Za-z0-9_-]{1,60}$/, 'expected an identifier such as mcp_registry'),
  name: line,
  url: webUrl,
  license: line,
  /** Shown wherever the source's data is; empty if the source requires no attribution. */
  attribution: v.optional(line, ''),
  decision: v.picklist(SOURCE_DECISIONS, `expected one of ${SOURCE_DECISIONS.join(', ')}`),
  reason: line,
})
export type SourceRow = v.InferOutput<typeof SourceRowSchema>

const OWN_ATTRIBUTION = 'Settlements this directory verified on-chain'

/** Attribution text for a source's evidence; the source's name if the table has no text. */
export function attributionOf(sources: ReadonlyMap<string, SourceRow>, id: string): string {
  if (id === OWN_EVIDENCE) return OWN_ATTRIBUTION
  const row = sources.get(id)
  if (row === undefined) return id
  return row.attribution === '' ? row.name : row.attribution
}

const MAX_POINTS = 400

/** `tables/market.yaml`: measurements of the paid market, as others published them. */
export const MarketSeriesSchema = v.strictObject({
  id: textLike(/^[a-z0-9]+(?:_[a-z0-9]+)*$/, 'expected a lower-case id such as payments_daily'),
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  unit: v.picklist(['count', 'usd'], 'expected "count" or "usd"'),
  /** The figures' limits, such as covering only one seller. */
  note: v.pipe(v.string(), v.minLength(1), v.maxLength(1000)),
  source: v.strictObject({
    name: v.pipe(v.string(), v.minLength(1), v.maxLength(120)),
    url: textLike(/^https:\/\//, 'expected an https URL'),
    license: v.pipe(v.string(), v.minLength(1), v.maxLength(120)),
  }),
  /** Days or price bands, each with its figure. */
  points: v.pipe(
    v.array(
      v.strictObject({
        at: v.pipe(v.string(), v.minLength(1), v.maxLength(40)),
        value: v.pipe(v.number(), v.minValue(0, 'expected 0 or more')),
      }),
    ),
    v.minLength(2, 'expected at least 2 points'),
    v.maxLength(MAX_POINTS, `expected at most ${MAX_POINTS} points`),
  ),
})

export type MarketSeries = v.InferOutput<typeof MarketSeriesSchema>

const policyId = textLike(
  /^[a-z0-9]+(?:-[a-z0-9]+)*$/,
  'expected lower-case letters, digits and hyphens',
)
const shortLine = v.pipe(v.string(), v.minLength(1), v.maxLength(200))

/** `tables/policies.yaml`: which MCP servers an editor may offer. Each row is a registry. */
const PolicySchema = v.strictObject({
  id: policyId,
  name: shortLine,
  note: v.optional(v.pipe(v.string(), v.maxLength(200)), ''),
  /** Minimum trust score; a server without a score is left out. */
  min_trust: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(100))),
  /** Only servers that are claimed with proof of their domain. */
  verified: v.optional(v.boolean(), false),
  /** Only servers without an open notice on their page. */
  no_notices: v.optional(v.boolean(), false),
  /** Ids of the only listings that the editor may offer; if absent, it may offer any. */
  allow: v.optional(v.array(v.string())),
})
export type Policy = v.InferOutput<typeof PolicySchema>

const LANGUAGES = [
  'zh',
  'es',
  'hi',
  'ar',
  'pt',
  'ru',
  'ja',
  'de',
  'fr',
  'ko',
  'it',
  'nl',
  'pl',
  'tr',
  'id',
  'vi',
  'uk',
] as const

/** `content/tables/foreign-words.yaml`: bars separate languages, commas separate words. */
const ForeignWordsSchema = v.pipe(
  v.strictObject({
    languages: v.pipe(v.array(v.picklist(LANGUAGES)), v.minLength(1)),
    stop: v.partial(v.strictObject(v.entriesFromList(LANGUAGES, v.string()))),
    words: v.record(
      textLike(/^[a-z0-9]+(?: [a-z0-9]+)*$/, 'expected plain English words'),
      v.string('expected one text with a bar between the words of each language'),
    ),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    const { languages, words } = dataset.value
    for (const [key, value] of Object.entries(words)) {
      const cells = value.split('|').map((cell) => cell.trim())
      if (cells.length === languages.length && cells.every((cell) => cell !== '')) continue
      addIssue({
        message: `expected words of ${languages.length} languages, got ${cells.length}`,
        path: [
          { type: 'object', origin: 'value', input: dataset.value, key: 'words', value: words },
          { type: 'object', origin: 'value', input: words, key, value },
        ],
      })
    }
  }),
)

export type ForeignWords = v.InferOutput<typeof ForeignWordsSchema>

const NO_FOREIGN_WORDS: ForeignWords = { languages: [], stop: {}, words: {} }

/** `content/tables/search-words.yaml` chooses the terms; `search-rank.ts` decides how they score. */
const MAX_RELATED = 6
const WORD = /^[a-z0-9]+$/

const wordList = v.pipe(
  v.string('expected words with a space between them'),
  v.transform((text) => text.split(/\s+/).filter((word) => word !== '')),
  v.check(
    (words) => words.every((word) => WORD.test(word)),
    'expected plain lower-case words with a space between them',
  ),
  v.check((words) => new Set(words).size === words.length, 'expected each word once'),
)

const phraseList = v.array(
  textLike(/^[a-z]+(?: [a-z]+)*$/, 'expected plain lower-case words with a space between them'),
)

/** Words or phrases that sound like a filter; `use` is the actual parameter. */
const FilterWordsSchema = v.strictObject({
  words: v.pipe(v.array(v.string(), 'expected a list of words or phrases'), v.minLength(1)),
  use: textLike(/^[a-z_]+=[a-z0-9_.]+$/, 'expected parameter=value, such as runs=local'),
})

/** A query's words, mapped to words in listings that offer what it means: `fly plane: flight airline`. */
const RelatedSchema = v.pipe(
  v.record(v.string(), v.pipe(wordList, v.minLength(1), v.maxLength(MAX_RELATED))),
  v.rawTransform(({ dataset, addIssue }) =>
    Object.entries(dataset.value).map(([key, meant]) => {
      const requested = key.split(' ')
      const own = meant.filter((word) => requested.includes(word))
      const path = {
        type: 'object',
        origin: 'value',
        input: dataset.value,
        key,
        value: meant,
      } as const
      if (!requested.every((word) => WORD.test(word)))
        addIssue({ message: 'expected plain lower-case words before the colon', path: [path] })
      if (own.length > 0)
        addIssue({ message: `“${own.join(' ')}” cannot be related to itself`, path: [path] })
      return { requested, meant }
    }),
  ),
)

const SearchWordsSchema = v.strictObject({
  /** Words without meaning; they are kept in listings' names, so that a search for such a name finds its listing. */
  stop: wordList,
  /** Words that nearly every listing of this directory could have. */
  generic: wordList,
  /** Words that people put around a task. */
  filler: wordList,
  /** Words for time, degree and manner, each also part of somebody's name. */
  aside: wordList,
  /** Real words and names: they are not typos, even if no listing has them. */
  everyday: wordList,
  filters: v.array(FilterWordsSchema),
  /** Phrases before an unwanted seller's name: `sure` ones always exclude, `maybe` ones only before a name. */
  excluding: v.strictObject({ sure: phraseList, maybe: phraseList }),
  /** Verbs, by the effect of the operation that they ask for; a `weak` verb yields to another verb after it. */
  effects: v.strictObject({ ...v.entriesFromList(EFFECTS, wordList), weak: wordList }),
  related: RelatedSchema,
})

export type SearchWords = v.InferOutput<typeof SearchWordsSchema> & {
  foreign: ForeignWords
  /** The words that people use for each task of `tasks.yaml`, and the services known for it. */
  tasks: readonly Pick<TaskRow, 'id' | 'name' | 'words' | 'like'>[]
  /** The tasks to which each word belongs, see `weighTaskWords`. */
  taskWeights: Readonly<Record<string, string>>
}

export const NO_SEARCH_WORDS: SearchWords = {
  stop: [],
  generic: [],
  filler: [],
  aside: [],
  everyday: [],
  filters: [],
  excluding: { sure: [], maybe: [] },
  effects: { read: [], write: [], delete: [], pay: [], weak: [] },
  related: [],
  foreign: NO_FOREIGN_WORDS,
  tasks: [],
  taskWeights: {},
}

const PARTS = ['sellers', 'payments', 'business_model', 'roadmap', 'trust'] as const
export type DirectoryPart = (typeof PARTS)[number]

/** The addresses of each part, including everything below them. */
const ADDRESSES: Readonly<Record<DirectoryPart, readonly string[]>> = {
  sellers: ['/sellers', '/api/v1/sellers', '/docs/sellers'],
  payments: [
    ...['/market', '/api/v1/market', '/not-listed', '/discovery'],
    ...['/api/v1/receipts', '/.well-known/receipt-keys.json'],
  ],
  business_model: ['/business-model', '/api/v1/business-model'],
  roadmap: [
    ...['/roadmap', '/api/v1/roadmap', '/docs/roadmap-stubs'],
    ...['/api/v1/sponsored', '/api/v1/tools', '/api/v1/buyers'],
  ],
  trust: ['/trust', '/api/v1/trust', '/badges'],
}

/** Parts that an internal directory can omit: false removes pages, endpoints, sentences and columns. */
const SwitchesSchema = v.optional(
  v.strictObject(v.entriesFromList(PARTS, v.optional(v.boolean(), true))),
  {},
)
export type Switches = v.InferOutput<typeof SwitchesSchema>

export function toMissingParts(switches: Partial<Switches>): DirectoryPart[] {
  return PARTS.filter((part) => switches[part] === false)
}

/** Whether a directory leaves out sellers, payments or trust. */
export function isBare(switches: Partial<Switches> = {}): boolean {
  return [switches.sellers, switches.payments, switches.trust].includes(false)
}

export function isSwitchedOff(path: string, switches: Partial<Switches> = {}): boolean {
  return toMissingParts(switches).some((part) =>
    ADDRESSES[part].some((address) => path === address || path.startsWith(`${address}/`)),
  )
}

/** Links to pages that this directory has and that are not empty. */
export function toPresentLinks<Link extends readonly [path: string, ...rest: unknown[]]>(
  links: readonly Link[],
  { switches, empty = [] }: Pick<SiteNames, 'switches' | 'empty'>,
): Link[] {
  return links.filter(([path]) => !isSwitchedOff(path, switches) && !empty.includes(path))
}

const markId = textLike(/^[a-z0-9]+(?:_[a-z0-9]+)*$/, 'expected a simple-icons id such as github')
const place = textLike(
  /^(?:[a-z0-9-]+\.)+[a-z]{2,}(?:\/[A-Za-z0-9._-]+)*$/,
  'expected a host such as shop.example, or a host with the beginning of a path',
)

/** A row in `tables/marks.yaml`: the places on the web that belong to a brand. */
export const MarkSchema = v.strictObject({
  /** Id in simple-icons, whose drawings are in the public domain (CC0 1.0). */
  mark: markId,
  /** Hosts with their subdomains, or path prefixes at a host that strangers share. */
  places: v.pipe(v.array(place), v.minLength(1, 'expected at least one place')),
})
type MarkRow = v.InferOutput<typeof MarkSchema>

/** The mark for a listing's own URL; null if no brand's place fits. */
type FindMark = (url: string) => string | null

/**
 * Reads the table once for many listings. The longest matching place decides, so a product's page
 * may have its own mark at its maker's host.
 * @example createMarkFinder([{ mark: 'github', places: ['github.com/github']
 *   }])('https://github.com/github/x') → 'github'
 */
export function createMarkFinder(rows: readonly MarkRow[]): FindMark {
  const byPlace = new Map(
    rows.flatMap(({ mark, places }) => places.map((at) => [at.toLowerCase(), mark] as const)),
  )
  return function findMark(url) {
    for (const at of placesOf(url)) {
      const mark = byPlace.get(at)
      if (mark !== undefined) return mark
    }
    return null
  }
}

/** Every place that contains a URL, longest first: paths before hosts, hosts before parents. */
function placesOf(url: string): string[] {
  const parsed = URL.parse(url)
  if (parsed === null || parsed.protocol !== 'https:') return []
  const labels = parsed.hostname.split('.')
  const hosts = labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'))
  const segments = parsed.pathname.toLowerCase().split('/').filter(Boolean).slice(0, MAX_SEGMENTS)
  const paths = segments.map((_, at) => segments.slice(0, segments.length - at).join('/'))
  return hosts.flatMap((host) => [...paths.map((path) => `${host}/${path}`), host])
}

/** No place in the table has a deeper path. */
const MAX_SEGMENTS = 4

/** `content/tables/*.yaml`: what the directory says about itself, edited by maintainers. */
const identifier = textLike(
  /^[a-z0-9]+(?:[_-][a-z0-9]+)*$/,
  'expected a lower-case identifier such as llm_inference',
)
export const prose = v.pipe(v.string(), v.minLength(1), v.maxLength(1000))
export const link = textLike(/^https:\/\//, 'expected an https URL')

export const CategoryRowSchema = v.strictObject({ id: identifier, name: prose, description: prose })

export const AlsoSearchSchema = v.strictObject({ name: prose, url: link, note: prose })

/** A roadmap row's texts; its status comes from the route table. `endpoint` is null for a planned feature. */
const RoadmapRowSchema = v.strictObject({
  id: identifier,
  name: prose,
  endpoint: v.nullable(textLike(/^[A-Z]+ \/\S*$/, 'expected METHOD /path')),
  note: prose,
})

const colour = textLike(/^#[0-9a-f]{6}$/i, 'expected a colour such as "#0b6b50", in quotes')

/** A directory's name and look; every page, email, card and protocol takes them from here. */
const SiteNamesSchema = v.strictObject({
  name: v.optional(v.pipe(prose, v.maxLength(60)), 'Directory'),
  /** Used in User-Agent, server names and badges: only letters, digits and hyphens. */
  short_name: v.optional(
    textLike(
      /^[A-Za-z][A-Za-z0-9-]{0,19}$/,
      'expected up to 20 letters, digits and hyphens, such as Acme',
    ),
    'Directory',
  ),
  /** What the directory is for, without a full stop at the end. */
  strapline: v.optional(
    v.pipe(prose, v.maxLength(90)),
    'Find services an agent can call and pay for',
  ),
  /** Links and the sign on the home page, on light and on dark paper. */
  colours: v.optional(v.strictObject({ light: colour, dark: colour })),
  /** An SVG file in the content folder, drawn instead of the signpost. */
  mark: v.optional(textLike(/^[a-z0-9-]+\.svg$/, 'expected a file name such as mark.svg')),
  /** Who runs the directory: an address for people, on the privacy page. */
  contact: v.optional(prose),
  /** Imprint, terms, or whatever else the operator must publish; on the privacy page. */
  legal: v.optional(v.array(v.strictObject({ title: prose, text: prose })), []),
  /** What reading costs and requires, in one sentence. A closed directory says how to get a token. */
  reading: v.optional(prose, 'Search and reads need no key.'),
  /** Ids of listings whose badges can be seen even if `READ_ACCESS=token` closes everything else. */
  public_badges: v.optional(v.array(v.string()), []),
  switches: SwitchesSchema,
  /** Whether the footer names the software. */
  made_with: v.optional(v.boolean(), true),
})

export const SiteTextsSchema = v.strictObject({
  ...SiteNamesSchema.entries,
  /** Ids shown in the showcase row; ids absent from the content are skipped with a warning. */
  showcase: v.optional(v.array(v.string()), []),
  featured_label: prose,
  sponsored_policy: prose,
  ranking: prose,
  attribution: v.optional(v.array(prose), []),
  /** Where anybody may propose a change, with `{file}` for the path; if absent, pages only name the file. */
  edit: v.optional(
    textLike(
      /^https:\/\/[^\s{}]*\{file\}[^\s{}]*$/,
      'expected an https URL that contains {file}, such as https://code.example/directory/edit/main/{file}',
    ),
  ),
  /** A sentence at the top of every page, for example that this copy is a demonstration. */
  banner: v.optional(prose),
  disclosure: prose,
  comparison_ranking: prose,
  business_model: v.strictObject({
    summary: prose,
    revenue: v.array(
      v.strictObject({
        id: identifier,
        name: prose,
        status: v.picklist(['live', 'planned', 'never']),
        note: prose,
      }),
    ),
    never: v.array(prose),
    transaction_path: prose,
  }),
})

/** The texts, and the pages that menus leave out because they would be empty. */
const ShownTextsSchema = v.strictObject({
  ...SiteTextsSchema.entries,
  empty: v.optional(v.array(v.string())),
})

const oneLine = (most: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(most))

/** `content/tables/independent_operators.yaml`: sellers known to be independent, by registrable domain. */
const IndependentOperatorSchema = v.strictObject({
  domain: textLike(
    /^(?:[a-z0-9]+(?:-+[a-z0-9]+)*\.)+[a-z0-9]+(?:-+[a-z0-9]+)*$/,
    'expected a registrable domain in lower case such as shop.example',
  ),
  name: oneLine(80),
  /** Evidence that anybody can check, showing that the operator is not a front. */
  why: oneLine(200),
})

export const TablesSchema = v.strictObject({
  categories: v.array(CategoryRowSchema),
  sources: v.array(SourceRowSchema),
  alsoSearch: v.array(AlsoSearchSchema),
  roadmap: v.array(RoadmapRowSchema),
  sharedHosts: SharedHostsSchema,
  marks: v.array(MarkSchema),
  independentOperators: v.array(IndependentOperatorSchema),
  site: SiteTextsSchema,
  policies: v.array(PolicySchema),
  tasks: v.array(TaskRowSchema),
  taskWords: TaskWordsSchema,
  taskQuestions: TaskWordsSchema,
  market: v.array(MarketSeriesSchema),
  notListed: v.array(NotListedSchema),
  searchWords: SearchWordsSchema,
  foreignWords: ForeignWordsSchema,
})

export type CategoryRow = v.InferOutput<typeof CategoryRowSchema>
export type RoadmapRow = v.InferOutput<typeof RoadmapRowSchema>
type Shown = Pick<v.InferOutput<typeof ShownTextsSchema>, 'empty'>
export type SiteNames = v.InferOutput<typeof SiteNamesSchema> & Shown
export type SiteTexts = v.InferOutput<typeof SiteTextsSchema> & Shown
export type Tables = v.InferOutput<typeof TablesSchema>

const choices = v.array(v.strictObject({ id: v.string(), name: v.string(), listings: count }))

/** The search page's filters, with counts. They are data, so that new content needs no new code. */
const SearchChoicesSchema = v.strictObject({
  kinds: v.record(v.string(), count),
  rails: v.record(v.string(), count),
  categories: choices,
  sources: choices,
  ages: AgesSchema,
})
export type SearchChoices = v.InferOutput<typeof SearchChoicesSchema>

const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

/** `release.json`: describes a release, and is written last. */
export const ReleaseFileSchema = v.strictObject({
  /** Digest of everything the release is made from: the same inputs make the same release. */
  digest: v.string(),
  base_url: v.string(),
  shared_hosts: SharedHostsSchema,
  texts: ShownTextsSchema,
  also_search: v.array(AlsoSearchSchema),
  search_choices: SearchChoicesSchema,
  not_listed: v.optional(v.array(NotListedSchema), []),
  /** Hosts at which listings are called, in addition to those of their own addresses. */
  other_hosts: v.optional(v.array(v.tuple([v.string(), v.string()])), []),
  tasks: v.array(
    v.strictObject({
      ...{ id: v.string(), name: v.string(), page: v.string() },
      ...{ sellers: v.number(), min_usd: v.nullable(v.number()) },
    }),
  ),
  /** The files in `public`: how many, and their total size. */
  files: v.strictObject({ count, bytes: count }),
  /** Hex SHA-256 of each file that a server loads, by its path. */
  checksums: v.record(v.string(), sha256),
})
export type ReleaseFile = v.InferOutput<typeof ReleaseFileSchema>
