import { hash } from 'node:crypto'
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { CompareView } from './domain/compare/compare-view.ts'
import type { SiteTexts, Tables } from './domain/derived/tables.ts'
import type { FirstCall } from './domain/kit/filled-call.ts'
import type { KitView } from './domain/kit/kit-view.ts'
import type { Gone } from './domain/listing/listing-states.ts'
import type { TaskPage } from './domain/plans/task-offers.ts'
import type { PolicyView } from './domain/protocols/registry-entry.ts'
import type { NotListed } from './domain/sellers/not-listed.ts'
import type { Ages } from './domain/trust/age.ts'
import type { Day, Drift, Interface, Probe } from './domain/trust/evidence.ts'
import type { LedgerPayment } from './domain/trust/ledger-facts.ts'
import type { ListingBrief, ListingView } from './domain/views/listing-view.ts'
import type {
  BusinessModelView,
  CategoriesView,
  MarketReportsView,
  RoadmapView,
  SourcesView,
  StatsView,
} from './domain/views/reference-views.ts'
import type { ScorePart, toTrustMethodView } from './domain/views/trust-view.ts'
import { ROUTES } from './domain/wire/routes.ts'

/** A listing in the compiled catalogue, as pages print it. The build writes it; only this file reads it. */
export interface CompiledListing {
  /** Digest of all that the other members are made from, except tables, code and similar listings. */
  key: string
  id: string
  view: ListingView
  /** The part of the view that pages print in lists; it can be read without the other members. */
  brief: ListingBrief
  home: HomeFacts
  /** The listing's kit.json, as served. */
  kit: KitView
  /** The description rendered to HTML; raw HTML in it is shown as text. */
  description_html: string
  added: string
  /** The latest day on which the listing was added, its operations or tools were read, or a change was seen in them. */
  changed: string
  /** Why the relay does not forward to the listing; null if it does. */
  relay_reason: string | null
  /** Ids of similar listings, best first. */
  similar: string[]
  history: ListingHistory
  /** The explanation of the listing's score; empty without a score. */
  score_parts: ScorePart[]
}

/** Facts by which the home page chooses listings. */
export interface HomeFacts {
  /** The best-ranked count that any source has, as its rank and its value; rank 0 means no count. */
  used: [rank: number, value: number]
  /** The day of the listing's last good answer, to us or to somebody else's test; null if there is none. */
  answered: string | null
  /** The latest changes between two probes, newest first. */
  drift: readonly Drift[]
}

/** A listing's measurements, day by day. */
export interface ListingHistory {
  /** Oldest first. */
  probes: readonly Probe[]
  /** Settlements by day, oldest first; empty if only totals are known. */
  days: readonly Day[]
  /** Changes between two probes, newest first. */
  drift: readonly Drift[]
  /** The latest payments behind the listing's score, counted or not. */
  payments: readonly LedgerPayment[]
  /** When and where the listing's operations, tools or skills were read; null if none were. */
  seen: Seen | null
}

interface Seen extends Pick<Interface, 'at' | 'from' | 'server' | 'truncated'> {
  /** Whether all of these descriptions are the seller's, none ours. */
  is_sellers_text: boolean
}

export interface CompiledSite {
  base_url: string
  stats: StatsView
  categories: CategoriesView
  sources: SourcesView
  roadmap: RoadmapView
  business_model: BusinessModelView
  market_reports: MarketReportsView
  trust_method: TrustMethodView
  compare: CompareView[]
  /** Removed listings, sorted by id. */
  gone: Gone[]
  /** Hosts without a listing, by reason. */
  not_listed: NotListed[]
  also_search: Tables['alsoSearch']
  texts: SiteTexts
  /** Each policy's separate registry of MCP servers. */
  policies: PolicyView[]
  /** The directory's own drawing, as SVG; null if it has none. */
  mark: string | null
  /** Listings' brand marks, as SVG, by id. */
  marks: Readonly<Record<string, string>>
  /** The tasks with every listing that does them. */
  task_pages: TaskPage[]
  /** The listing that examples in the documents use. */
  first_call: FirstCall | null
}

export interface Compiled {
  site: CompiledSite
  /** Sorted by id. */
  listings: CompiledListing[]
  byId: ReadonlyMap<string, CompiledListing>
}

/** The environment variable for the folder of the release that pages are made from. */
export const RELEASE_DIR_VARIABLE = 'RELEASE_DIR'

/** Data that every page may print without passing it to `keyOf`: it is part of every key. */
export interface Shared {
  base_url: string
  /** Names, banner, and where the content can be edited. */
  texts: SiteTexts
}

/** The part of a listing that pages need to show it in a list. */
export type CompiledHead = Pick<
  CompiledListing,
  'key' | 'id' | 'brief' | 'home' | 'added' | 'changed' | 'relay_reason' | 'similar'
>
export type CompiledRest = Omit<CompiledListing, keyof CompiledHead | 'view'>

/** Rows in a release's `data` that only pages read. */
export const [HEADS, RESTS] = ['data/page-heads.ndjson', 'data/page-rests.ndjson'] as const

/** All that is not about a single listing, and the OpenAPI document. */
export const [SITE, OPENAPI] = ['data/site.json', 'data/openapi.json'] as const

/** The length of each listing's rows in bytes, by file in the release: `data/rows.json`. */
export interface RowLengths {
  lengths: Record<string, number[]>
}

/** Pages are bundled, so they have their own copy of this module: both copies share the global object. */
const FROZEN = Symbol.for('directory.frozen')

/**
 * While frozen, `readCompiled` throws: a page that is kept while its props are the same must be
 * made only from its props.
 */
export function freezeCompiled(isFrozen: boolean): void {
  Reflect.set(globalThis, FROZEN, isFrozen)
}

const isFrozen = () => Reflect.get(globalThis, FROZEN) === true

let cached: { folder: string; compiled: Compiled } | undefined

/** Reads the catalogue once for each folder. @throws if no build has set the folder */
export function readCompiled(): Compiled {
  if (isFrozen())
    throw new Error(
      'this page has a key (keyOf), so it may print only its props: it must not call readCompiled',
    )
  return readOnce()
}

function readOnce(): Compiled {
  const folder = readFolder()
  if (cached?.folder !== folder) cached = { folder, compiled: readFrom(folder) }
  return cached.compiled
}

function readFolder(): string {
  const folder = process.env[RELEASE_DIR_VARIABLE] ?? ''
  if (folder === '')
    throw new Error(`${RELEASE_DIR_VARIABLE} is not set: pages are rendered by "npm run build"`)
  return folder
}

/**
 * How old the directory's facts are. Null on a page with a key: it shows the dates of its own
 * facts, and these ages would change it each day.
 */
export function readAges(): Ages | null {
  return isFrozen() ? null : readCompiled().site.stats
}

/** The part of the catalogue that is in every key. */
export function readShared(): Shared {
  const { site } = readOnce()
  return { base_url: site.base_url, texts: site.texts }
}

let sharedKey: { texts: unknown; key: string } = { texts: null, key: '' }

/** A page's key, from all its inputs: pages with the same key are the same, byte for byte. */
export function keyOf(props: object): string {
  const shared = readShared()
  // The site's texts are long, and the same for every page in a build.
  if (sharedKey.texts !== shared.texts)
    sharedKey = { texts: shared.texts, key: hash('sha256', JSON.stringify(shared)) }
  return hash('sha256', `${sharedKey.key}${JSON.stringify(props)}`).slice(0, 32)
}

/** This build's OpenAPI document; parse it with `toApiReference`. */
export function readOpenApi(): unknown {
  return JSON.parse(readFileSync(join(readFolder(), OPENAPI), 'utf8'))
}

function readFrom(folder: string): Compiled {
  // JSON.parse returns `any`; the build wrote these files from these very types.
  const site: CompiledSite = JSON.parse(readFileSync(join(folder, SITE), 'utf8'))
  const { lengths }: RowLengths = JSON.parse(readFileSync(join(folder, 'data/rows.json'), 'utf8'))
  const readView = createRowReader(folder, `public${ROUTES.listings_dump.path}`, lengths)
  const readRest = createRowReader(folder, RESTS, lengths)
  const listings = readFileSync(join(folder, HEADS), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map(
      (line, at) =>
        new StoredListing(JSON.parse(line), () => ({ view: readView(at), ...readRest(at) })),
    )
  return { site, listings, byId: new Map(listings.map((listing) => [listing.id, listing])) }
}

/** Closes a file once nothing refers to its reader: a development server opens one after each change. */
const abandoned = new FinalizationRegistry<number>((file) => closeSync(file))

/** Reads values from a file of rows by their place; typed `any`, like `JSON.parse`. */
function createRowReader(folder: string, path: string, all: RowLengths['lengths']) {
  const file = openSync(join(folder, path), 'r')
  const lengths = all[path] ?? []
  const starts = [0]
  for (const length of lengths) starts.push((starts.at(-1) ?? 0) + length)
  const readRow = (at: number) => {
    const bytes = Buffer.allocUnsafe(lengths[at] ?? 0)
    readSync(file, bytes, 0, bytes.length, starts[at] ?? 0)
    return JSON.parse(bytes.toString())
  }
  abandoned.register(readRow, file)
  return readRow
}

/** How many listings are kept in memory with more than their heads: all 100,000 would take gigabytes. */
const MAX_HELD = 64
const held = new Map<StoredListing, Rest>()
type Rest = CompiledRest & Pick<CompiledListing, 'view'>

/** A listing with only its head in memory: other members are read when a page needs them. */
class StoredListing implements CompiledListing {
  declare readonly key: string
  declare readonly id: string
  declare readonly brief: ListingBrief
  declare readonly home: HomeFacts
  declare readonly added: string
  declare readonly changed: string
  declare readonly relay_reason: string | null
  declare readonly similar: string[]
  readonly #read: () => Rest
  constructor(head: CompiledHead, read: () => Rest) {
    Object.assign(this, head)
    this.#read = read
  }

  get view() {
    return this.#rest.view
  }
  get kit() {
    return this.#rest.kit
  }
  get description_html() {
    return this.#rest.description_html
  }
  get history() {
    return this.#rest.history
  }
  get score_parts() {
    return this.#rest.score_parts
  }

  get #rest(): Rest {
    const known = held.get(this)
    if (known !== undefined) return known
    const rest = this.#read()
    held.set(this, rest)
    const [oldest] = held.keys()
    if (held.size > MAX_HELD && oldest !== undefined) held.delete(oldest)
    return rest
  }
}

type TrustMethodView = ReturnType<typeof toTrustMethodView>
