import type { TaskNames } from '../../src/components/compare/versus.ts'
import type { CompareRow } from '../../src/domain/compare/compare-view.ts'
import type { DeclaredRow } from '../../src/domain/derived/derived-listing.ts'
import type { SearchChoices, SiteTexts } from '../../src/domain/derived/tables.ts'
import {
  type Gone,
  type LiveListing,
  listingOfPath,
  type OptedOutListing,
  toGoneText,
} from '../../src/domain/listing/listing-states.ts'
import { toSlug } from '../../src/domain/listing/listing-text.ts'
import type { TaskSeller } from '../../src/domain/plans/task-plan.ts'
import type { ProbePlan } from '../../src/domain/probe/plan.ts'
import type { ArdRow } from '../../src/domain/protocols/cards.ts'
import type { RegistryRow, ResourceRow } from '../../src/domain/protocols/registry-entry.ts'
import type { SharedHosts } from '../../src/domain/sellers/claim-rules.ts'
import type { FindNotListed } from '../../src/domain/sellers/not-listed.ts'
import type { Task } from '../../src/domain/tasks/task.ts'
import type { ListingView } from '../../src/domain/views/listing-view.ts'
import { listingPath } from '../../src/domain/wire/links.ts'
import { SHORT_CACHE } from '../../src/domain/wire/published-files.ts'
import { countEdits } from '../../src/domain/wire/text.ts'
import { ID_PREFIXES } from '../../src/domain/wire/vocabulary.ts'
import type { SearchIndex } from '../../src/search/index/index-file.ts'
import type { MakeProblem } from '../http/answers.ts'
import type { StaticFiles } from '../static/static-files.ts'
import type { SearchTexts } from './prepare-texts.ts'

/** One published build, as the live functions see it. Immutable: a new build is a new Release. */
export interface Release {
  /** Digest of everything the build was made from. */
  name: string
  listings: ReadonlyMap<string, LiveListing>
  /** Removed at their seller's request; never among `listings`. */
  optedOut: ReadonlyMap<string, OptedOutListing>
  /** Which listings share a host: claims are judged by it. */
  sharedHosts: SharedHosts
  search: SearchIndex
  operations: SearchIndex
  gone: ReadonlyMap<string, Gone>
  searchTexts: SearchTexts
  searchChoices: SearchChoices
  /** The directory's name and description. */
  site: SiteTexts
  files: StaticFiles
  protocolData: ReturnType<typeof createProtocolData>
  /** Why an address has no listing. */
  findNotListed: FindNotListed
  /** Names of tasks by id, in the order of their table. */
  tasks: TaskNames
  pageCode: PageCode
}

/** What renders the pages that are made for each request. */
export interface PageCode {
  /** Named by its content: the same code in another release has the same name. */
  name: string
  /** Of the release that has it. */
  folder: string
  /** Paths from there and their SHA-256; `entry.mjs` is among them. */
  files: readonly (readonly [path: string, sha256: string])[]
}

/**
 * A JSON file of the release by its address, or null.
 *
 * @example const view = await readBuilt<ListingView>(release, listingPath(id))
 */
export async function readBuilt<View>(
  { files }: Pick<Release, 'files'>,
  path: string,
): Promise<View | null> {
  const bytes = files.read(path)
  // JSON.parse is typed `any`: the build wrote this file from this very type.
  return bytes === null ? null : JSON.parse(bytes.toString('utf8'))
}

export async function readListing(
  release: Pick<Release, 'files'>,
  id: string,
): Promise<ListingView> {
  const view = await readBuilt<ListingView>(release, listingPath(id))
  if (view === null) throw new Error(`the release has no file of ${id}`)
  return view
}

/** The removed listing of an address; null where there never was one. */
export function findGone({ gone, listings }: Release, path: string): Gone | null {
  for (const id of listingOfPath(path)) {
    const found = gone.get(id)
    if (found !== undefined && !listings.has(id)) return found
  }
  return null
}

/** Made when the first unknown id of a release is requested. */
const finders = new WeakMap<Release['listings'], ReturnType<typeof createNearestIds>>()

/** What is said of an id that no listing has. */
export function toUnknownText({ listings }: Pick<Release, 'listings'>, id: string): string {
  const findNear = finders.get(listings) ?? createNearestIds(listings.keys())
  finders.set(listings, findNear)
  const near = findNear(id)
  return near.length === 0
    ? 'No listing has this id. Ids look like x402.example or mcp.example; search for it by name.'
    : `No listing has this id; did you mean ${near.join(', ')}?`
}

/** The current id of a listing; unchanged where it never moved. */
export function currentId({ gone }: Pick<Release, 'gone'>, id: string): string {
  return gone.get(id)?.moved_to ?? id
}

/**
 * 308 to the same address of a listing that has a new id; else 410 with the reason and any
 * replacement.
 *
 * @param target path and query of the request
 */
export function toGoneProblem(gone: Gone, target: string, problem: MakeProblem): Response {
  const { id, moved_to } = gone
  const answer = { detail: toGoneText(gone), extra: { ...gone } }
  if (moved_to === undefined) return problem('listing-gone', answer)
  const location = target.replace(id, moved_to).replace(/^\/gone\//, '/listing/')
  const headers = { Location: location, 'Cache-Control': SHORT_CACHE }
  return problem('listing-moved', { ...answer, headers })
}

/**
 * Rows for the protocols of other directories. Read on first use: most servers never need them.
 *
 * @param read the text of a data file of the release, verified
 */
export function createProtocolData(read: (name: string) => Promise<string>) {
  return {
    servers: once(() => readRows<RegistryRow>(read, 'data/mcp-servers.ndjson')),
    resources: once(() => readRows<ResourceRow>(read, 'data/paid-resources.ndjson')),
    ardRows: once(async () => {
      const rows = await readRows<ArdRow>(read, 'data/ard-rows.ndjson')
      return new Map(rows.map((row) => [row.id, row]))
    }),
    tasks: once(async () => {
      const tasks = await readRows<Task>(read, 'data/tasks.ndjson')
      const sellers = await readRows<TaskSeller>(read, 'data/task-sellers.ndjson')
      const byTask = Map.groupBy(sellers, ({ task }) => task)
      return new Map(
        tasks.map((task) => [task.id, { task, sellers: byTask.get(task.id) ?? [] }] as const),
      )
    }),
    declaredCalls: once(async () => {
      const rows = await readRows<DeclaredRow>(read, 'data/declared-calls.ndjson')
      return new Map(rows.map((row) => [row.digest, row]))
    }),
    probePlans: once(() => readRows<ProbePlan>(read, 'data/probe-plans.ndjson')),
    compareRows: once(async () => {
      const rows = await readRows<CompareRow>(read, 'data/compare-rows.ndjson')
      return new Map(rows.map((row) => [row.id, row]))
    }),
  }
}

/** A failure is not remembered: the next request tries again. */
function once<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | undefined
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return loading
  }
}

async function readRows<Row>(
  read: (name: string) => Promise<string>,
  name: string,
): Promise<Row[]> {
  const lines = (await read(name)).split('\n')
  // JSON.parse is typed `any`: the build wrote these rows from this very type.
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line))
}

/** Ids that are offered for an unknown one. */
const MOST_NEAR = 3

/** Names that are compared with a misspelt one: anybody may ask for any id. */
const MOST_COMPARED = 400

const LONGEST_COMPARED = 60

/** Letters that a misspelt name still begins with. */
const SAME_START = 2

/**
 * Finds the ids nearest to one that no listing has: first those of the same name under another
 * prefix, then those whose first words it is, then slips of the pen.
 *
 * @example createNearestIds(['mcp.exa', 'x402.exa'])('exa') → ['x402.exa', 'mcp.exa']
 */
export function createNearestIds(ids: Iterable<string>): (requested: string) => string[] {
  const byStart = Map.groupBy(
    [...ids].map((id) => ({ id, slug: toSlug(id) })).sort(bySlug),
    ({ slug }) => slug.slice(0, SAME_START),
  )
  return (requested) => {
    const name = requested.toLowerCase().replace(PREFIX, '')
    if (name.length > LONGEST_COMPARED || name.length < SAME_START) return []
    const near = byStart.get(name.slice(0, SAME_START)) ?? []
    const begun = near.filter(
      ({ slug }) =>
        slug === name || /^[._-]$/.test(slug.startsWith(name) ? slug.charAt(name.length) : ''),
    )
    const slips = near
      .filter(({ slug }) => Math.abs(slug.length - name.length) <= MOST_SLIPS)
      .slice(0, MOST_COMPARED)
      .map((each) => ({ ...each, edits: countEdits(name, each.slug) }))
      .filter(({ slug, edits }) => edits <= Math.min(MOST_SLIPS, slug.length / 3))
      .sort((a, b) => a.edits - b.edits)
    return [...new Set([...begun, ...slips].map(({ id }) => id))].slice(0, MOST_NEAR)
  }
}

const MOST_SLIPS = 2

const PREFIX = new RegExp(`^(?:${ID_PREFIXES.join('|')})\\.`)

/** Of one name the prefixes in their own order. */
function bySlug(a: { id: string; slug: string }, b: { id: string; slug: string }): number {
  if (a.slug !== b.slug) return a.slug < b.slug ? -1 : 1
  const rank = ({ id }: { id: string }) =>
    ID_PREFIXES.findIndex((each) => id.startsWith(`${each}.`))
  return rank(a) - rank(b)
}
