import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Tables } from './domain/derived/tables.ts'
import type { Gone } from './domain/derived/tombstone.ts'
import type { KitView } from './domain/kit/kit-view.ts'
import type { ScorePart } from './domain/pages/listing/score-parts.ts'
import type { HandshakesView } from './domain/probe/keep/handshakes-view.ts'
import type { Day, Probe } from './domain/trust/evidence.ts'
import type { Interface } from './domain/trust/interface.ts'
import type { BusinessModelView } from './domain/views/business-model-view.ts'
import type { CompareView } from './domain/views/compare-view.ts'
import type { ListingView } from './domain/views/listing-view.ts'
import type { MarketReportsView } from './domain/views/market-view.ts'
import type { CategoriesView, SourcesView } from './domain/views/reference-views.ts'
import type { RoadmapView } from './domain/views/roadmap-view.ts'
import type { StatsView } from './domain/views/stats-view.ts'
import type { TrustMethodView } from './domain/views/trust-method-view.ts'

/** The compiled catalogue, as pages print it. The build writes it, this file alone reads it. */
export interface CompiledListing {
  view: ListingView
  /** kit.json of the listing, as served. */
  kit: KitView
  /** The description rendered to HTML; raw HTML of the source stands in it as text. */
  description_html: string
  added: string
  /** Why the relay does not take it; null when it does. */
  relay_reason: string | null
  /** What our probes saw; null where nothing was probed yet. */
  handshakes: HandshakesView | null
  /** Ids of listings like this one, best first. */
  similar: string[]
  history: ListingHistory
  /** Why its score is what it is; empty without one. */
  score_parts: ScorePart[]
}

/** What machines saw of a listing, day by day. */
export interface ListingHistory {
  /** Oldest first. */
  probes: readonly Probe[]
  /** Settlements by day, oldest first; empty where only totals are known. */
  days: readonly Day[]
  /** When and where its operations, tools or skills were read; null where nobody looked. */
  seen: Pick<Interface, 'at' | 'from' | 'server' | 'truncated'> | null
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
  /** Listings that are gone, sorted by id. */
  gone: Gone[]
  also_search: Tables['alsoSearch']
  texts: Tables['site']
  tasks: Tables['tasks']
}

export interface Compiled {
  site: CompiledSite
  /** Sorted by id. */
  listings: CompiledListing[]
  byId: ReadonlyMap<string, CompiledListing>
}

/** Set by the build for the pages it renders: the folder of the compiled catalogue. */
export const COMPILED_DIR_VARIABLE = 'WAYPOST_COMPILED_DIR'

let cached: Compiled | undefined

/** Reads the catalogue once for each process. @throws when no build has set its folder. */
export function readCompiled(): Compiled {
  cached ??= readFrom(process.env[COMPILED_DIR_VARIABLE] ?? '')
  return cached
}

/** The OpenAPI document of this build; parse it with `toApiReference`. */
export function readOpenApi(): unknown {
  return JSON.parse(
    readFileSync(join(process.env[COMPILED_DIR_VARIABLE] ?? '', 'openapi.json'), 'utf8'),
  )
}

function readFrom(folder: string): Compiled {
  if (folder === '')
    throw new Error(`${COMPILED_DIR_VARIABLE} is not set: pages are rendered by "npm run build"`)
  // JSON.parse is typed `any`; both files were written by the build from these very types.
  const site: CompiledSite = JSON.parse(readFileSync(join(folder, 'site.json'), 'utf8'))
  const listings: CompiledListing[] = []
  for (const line of readFileSync(join(folder, 'listings.ndjson'), 'utf8').split('\n'))
    if (line !== '') listings.push(JSON.parse(line))
  return { site, listings, byId: new Map(listings.map((listing) => [listing.view.id, listing])) }
}
