import type * as v from 'valibot'
import type { ChosenListings } from '../../src/components/compare/versus.ts'
import {
  type ChosenComparisonSchema,
  type CompareRow,
  compareRows,
} from '../../src/domain/compare/compare-view.ts'
import type { SiteTexts } from '../../src/domain/derived/tables.ts'
import { toCompactKit } from '../../src/domain/kit/found-operations.ts'
import type { KitView } from '../../src/domain/kit/kit-view.ts'
import { findValueFault } from '../../src/domain/listing/json-schema.ts'
import { toGoneText } from '../../src/domain/listing/listing-states.ts'
import { isListingId } from '../../src/domain/listing/listing-text.ts'
import { NETWORK_NAMES, toNetworkId } from '../../src/domain/listing/networks.ts'
import type { TaskPage } from '../../src/domain/plans/task-offers.ts'
import {
  MAX_PLAN_ROWS,
  PLAN_ROWS,
  type PlanQuestion,
  planTask,
  type TaskPlan,
} from '../../src/domain/plans/task-plan.ts'
import { membersOf, PLAN_PARAMETERS, requiredOf, type Task } from '../../src/domain/tasks/task.ts'
import type { ListingView } from '../../src/domain/views/listing-view.ts'
import type { StatsView } from '../../src/domain/views/reference-views.ts'
import { memberOf, parseJson } from '../../src/domain/wire/json.ts'
import { kitPath, LEAST_COMPARED, listingPath, MOST_COMPARED } from '../../src/domain/wire/links.ts'
import { ROUTES } from '../../src/domain/wire/routes.ts'
import { cutAt, findNearestName } from '../../src/domain/wire/text.ts'
import { RAILS, SEARCH_VIEWS } from '../../src/domain/wire/vocabulary.ts'
import type { Handler, Parts } from '../features/feature.ts'
import { createCountedGet } from '../features/routes.ts'
import { findNameErrors, type InputError, toQueryError } from '../http/answers.ts'
import { currentId, type Release, readBuilt, toUnknownText } from '../release/release.ts'
import { splitTarget } from '../server/node-answers.ts'

type ComparisonParts = Pick<Parts, 'release' | 'config'>
type ComparisonReply = { view: ChosenComparison } | { problems: InputError[] }

/** Compares chosen listings; the endpoint, the page and every protocol show the same record. */
export function createComparison({ release, config }: ComparisonParts) {
  return async function compare(ids: readonly string[]): Promise<ComparisonReply> {
    const current = release()
    const rows = await current.protocolData.compareRows()
    const chosen = [...new Set(ids.map((id) => currentId(current, id)))]
    const unknown = chosen.filter((id) => !rows.has(id))
    if (unknown.length > 0)
      return {
        problems: unknown.map((id) => toQueryError('ids', `${id}: ${toUnknownText(current, id)}`)),
      }
    const expected = `expected ${LEAST_COMPARED} to ${MOST_COMPARED} ids, got ${chosen.length}`
    if (chosen.length < LEAST_COMPARED || chosen.length > MOST_COMPARED)
      return { problems: [toQueryError('ids', expected)] }
    const stats = await readBuilt<StatsView>(current, ROUTES.stats.path)
    const view = toChosenComparison(
      chosen.flatMap((id) => rows.get(id) ?? []),
      {
        baseUrl: config.BASE_URL,
        site: current.site,
        updated: stats?.updated ?? '',
        isFirstParty: (id) => current.listings.get(id)?.first_party === true,
      },
    )
    return { view }
  }
}

/** `ids=a,b` or `ids=a&ids=b`. */
function idsIn(parameters: URLSearchParams): string[] {
  const ids = parameters.getAll('ids').flatMap((text) => text.split(','))
  return ids.map((id) => id.trim()).filter((id) => id !== '')
}

/** `GET /api/v1/compare`: the existing comparison pages or, with `ids`, the chosen listings. */
export function createCompareList(
  parts: ComparisonParts & Pick<Parts, 'problem' | 'limits'>,
): Handler {
  const compare = createComparison(parts)
  return createCountedGet(parts, async (query) => {
    if (query === '')
      return { view: (await readBuilt(parts.release(), ROUTES.compare_list.path)) ?? { pages: [] } }
    const parameters = new URLSearchParams(query)
    const others = [...new Set(parameters.keys())].filter((name) => name !== 'ids')
    const problems = others.map((name) => toQueryError(name, 'unknown parameter', ['ids']))
    return problems.length > 0 ? { problems } : compare(idsIn(parameters))
  })
}

/** How many ids beyond the limit are named. */
const MOST_NAMED = 6
/** How many characters are shown of an id that no listing has. */
const MOST_SHOWN = 80

/**
 * What `/compare?ids=a,b` (or `ids=a&ids=b`) shows. Other parameters are ignored, because links
 * from anywhere may add them. Ids that no listing has are named, and the other listings are shown.
 */
export function createComparePage({ release }: Pick<Parts, 'release'>) {
  return async function compare(target: string): Promise<ChosenListings> {
    const current = release()
    const given = idsIn(new URLSearchParams(splitTarget(target).query))
    const requested = [...new Set(given.map((id) => currentId(current, id)))]
    const known = requested.filter((id) => current.listings.has(id))
    const unknown = requested.filter((id) => !current.listings.has(id))
    const leftOut = unknown.slice(0, MOST_NAMED).map((id) => toReason(current, id))
    const more = unknown.length - leftOut.length
    if (more > 0) leftOut.push(`${more} more ids are unknown.`)
    const beyond = known.slice(MOST_COMPARED, MOST_COMPARED + MOST_NAMED).join(', ')
    if (beyond !== '')
      leftOut.push(`A comparison takes at most ${MOST_COMPARED} listings; left out: ${beyond}.`)
    const shown = known.slice(0, MOST_COMPARED)
    const subjects = await Promise.all(
      shown.map(async (id) => ({
        view: await readOf<ListingView>(current, listingPath(id)),
        kit: await readOf<KitView>(current, kitPath(id)),
      })),
    )
    const doneBy = (id: string) => subjects.filter(({ view }) => view.tasks.includes(id))
    const common = current.tasks.filter(({ id }) => doneBy(id).length > 1)
    const tasks = await Promise.all(
      common.map(({ id }) => readOf<TaskPage>(current, `${ROUTES.tasks.path}/${id}`)),
    )
    return { subjects, leftOut, tasks }
  }
}

async function readOf<View>(release: Pick<Release, 'files'>, path: string): Promise<View> {
  const view = await readBuilt<View>(release, path)
  if (view === null) throw new Error(`the release has no ${path}`)
  return view
}

function toReason({ gone }: Release, id: string): string {
  const found = gone.get(id)
  if (found !== undefined) return toGoneText(found)
  const shown = cutAt(id, MOST_SHOWN)
  return isListingId(id) ? `No listing has the id ${shown}.` : `${shown} is not a listing id.`
}

const NAMES = ['view', 'operation', 'rail']

/**
 * `GET /api/v1/listings/<id>/kit.json?view=compact`. `operation` and `rail` imply the compact view:
 * they choose one of its operations. Without a query the answer is a file.
 */
export function createKit(
  parts: Pick<Parts, 'problem' | 'release' | 'limits' | 'config'>,
): Handler {
  const { problem, release } = parts
  return createCountedGet(parts, async (query, { context }) => {
    const requested = readQuery(query)
    if ('problems' in requested) return requested
    const { listing_id: id = '' } = context.params ?? {}
    // Only a listing's id becomes part of a file's address, so no id can lead to another file.
    const isListed = release().listings.has(id)
    const whole = isListed ? await readBuilt<KitView>(release(), kitPath(id)) : null
    if (whole === null)
      return problem('listing-not-found', { detail: toUnknownText(release(), id) })
    const view = requested.view === 'compact' ? toCompactKit(whole, requested) : whole
    if (view !== null) return { view }
    const detail = `expected the number of an operation; the listing has ${whole.operations.length + whole.tools.length + whole.skills.length}, counted from 0, and “others” lists them`
    return { problems: [toQueryError('operation', detail)] }
  })
}

function readQuery(query: string) {
  const parameters = new URLSearchParams(query)
  const rail = parameters.get('rail')
  const chooses = rail !== null || parameters.has('operation')
  const view = parameters.get('view') ?? (chooses ? 'compact' : 'full')
  const known = RAILS.find((each) => each === rail)
  const problems = findNameErrors(parameters, NAMES)
  if (!SEARCH_VIEWS.some((each) => each === view))
    problems.push(toQueryError('view', 'expected full or compact', SEARCH_VIEWS))
  if (rail !== null && known === undefined)
    problems.push(toQueryError('rail', 'expected x402 or mpp', RAILS))
  if (view === 'full' && chooses)
    problems.push(
      toQueryError(
        'view',
        'operation and rail work only with the compact kit: expected view=compact or no view',
      ),
    )
  if (problems.length > 0) return { problems }
  return { view, operation: parameters.get('operation') ?? undefined, rail: known }
}

/** A plan, the errors in the query, or a sentence about an unknown task. */
type PlanReply = { plan: TaskPlan } | { problems: InputError[] } | { unknown: string }
type PlanTask = (id: string, query: URLSearchParams) => Promise<PlanReply>

/** Plans over the current release. */
export function createPlanTask({ release, config }: Pick<Parts, 'release' | 'config'>): PlanTask {
  return async (id, query) => {
    const tasks = await release().protocolData.tasks()
    const found = tasks.get(id)
    if (found === undefined) return { unknown: toUnknownTask(id, [...tasks.keys()]) }
    const requested = readQuestion(found.task, query)
    if ('problems' in requested) return requested
    return { plan: planTask(found.task, found.sellers, requested, config.BASE_URL) }
  }
}

function toUnknownTask(id: string, known: readonly string[]): string {
  const nearest = findNearestName(id, known)
  const hint = nearest === null ? '/api/v1/tasks lists them' : `did you mean ${nearest}?`
  return `No task with a contract has this id; ${hint}`
}

function readQuestion(
  task: Task,
  query: URLSearchParams,
): PlanQuestion | { problems: InputError[] } {
  const known = [...membersOf(task.input), ...PLAN_PARAMETERS]
  const read = readTaskInput(task, new Map(query))
  const rail = query.get('rail')
  const network = query.get('network')
  const price = query.get('max_price_usd')
  const limit = query.get('limit') ?? String(PLAN_ROWS)
  const networkId = network === null ? undefined : toNetworkId(network)
  const problems = [
    ...findNameErrors(query, known),
    ...('faults' in read ? read.faults.map(({ name, detail }) => toQueryError(name, detail)) : []),
    ...(rail === null || RAILS.some((each) => each === rail)
      ? []
      : [toQueryError('rail', 'expected x402 or mpp', RAILS)]),
    ...(networkId === null
      ? [toQueryError('network', 'expected a CAIP-2 id or a common name', NETWORK_NAMES)]
      : []),
    ...(price === null || /^\d{1,9}(?:\.\d{1,9})?$/.test(price)
      ? []
      : [toQueryError('max_price_usd', 'expected a number of at least 0')]),
    ...(/^[1-9]$/.test(limit) && Number(limit) <= MAX_PLAN_ROWS
      ? []
      : [toQueryError('limit', `expected a whole number from 1 to ${MAX_PLAN_ROWS}`)]),
  ]
  if (problems.length > 0 || 'faults' in read) return { problems }
  return {
    input: read.input,
    max_price_usd: price === null ? undefined : Number(price),
    rail: RAILS.find((each) => each === rail),
    network: networkId ?? undefined,
    limit: Number(limit),
  }
}

/** `GET /api/v1/tasks/<id>/plan?<members of the input>`. */
export function createPlan(
  parts: Pick<Parts, 'problem' | 'release' | 'limits' | 'config'>,
): Handler {
  const plan = createPlanTask(parts)
  return createCountedGet(parts, async (query, { context }) => {
    const reply = await plan(context.params?.task_id ?? '', new URLSearchParams(query))
    if ('unknown' in reply) return parts.problem('not-found', { detail: reply.unknown })
    return 'plan' in reply ? { view: reply.plan } : reply
  })
}

interface InputFault {
  name: string
  detail: string
}

/** Reads the members of a task's input from a query, by the types in the task's contract. */
export function readTaskInput(
  { input }: Pick<Task, 'input'>,
  texts: ReadonlyMap<string, string>,
): { input: Record<string, unknown> } | { faults: InputFault[] } {
  const members = membersOf(input).flatMap((name) => {
    const text = texts.get(name)
    return text === undefined ? [] : [[name, toTyped(schemaOf(input, name), text)] as const]
  })
  const faults = members.flatMap(([name, value]) => {
    const why = findValueFault(schemaOf(input, name), value)
    return why === null ? [] : [{ name, detail: why }]
  })
  const missing = requiredOf(input)
    .filter((name) => !texts.has(name))
    .map((name) => ({ name, detail: 'the task requires it' }))
  return faults.length + missing.length > 0
    ? { faults: [...missing, ...faults] }
    : { input: Object.fromEntries(members) }
}

/** A query's text as a value of the contract's type; a text that does not fit stays as it is. */
function toTyped(schema: unknown, text: string): unknown {
  const type = memberOf(schema, 'type')
  if (type === 'number' || type === 'integer')
    return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
  if (type === 'boolean' && /^(?:true|false)$/.test(text)) return text === 'true'
  return type === 'array' || type === 'object' ? (parseJson(text) ?? text) : text
}

function schemaOf(input: unknown, name: string): Record<string, unknown> {
  return { ...Object(memberOf(memberOf(input, 'properties'), name)) }
}

type ChosenComparison = v.InferOutput<typeof ChosenComparisonSchema>

interface ChosenContext {
  baseUrl: string
  site: Pick<SiteTexts, 'disclosure' | 'comparison_ranking'>
  /** Date of the newest fact. */
  updated: string
  isFirstParty: (id: string) => boolean
}

/** A comparison without an author: one section in the usual order, with our own kits separate. */
function toChosenComparison(
  rows: readonly CompareRow[],
  { baseUrl, site, updated, isFirstParty }: ChosenContext,
): ChosenComparison {
  // No author judged which listing is made for the job, so all are shown as broad.
  const others = rows
    .filter(({ id }) => !isFirstParty(id))
    .map((row) => ({ ...row, focus: 'broad' as const }))
  return {
    slug: null,
    type: 'compare',
    title: rows.map(({ name }) => name).join(', '),
    url: `${baseUrl}/compare?ids=${rows.map(({ id }) => id).join(',')}`,
    updated,
    indexable: false,
    thin_reason: 'listings chosen by a reader',
    disclosure: site.disclosure,
    ranking: site.comparison_ranking,
    demand_90d: { all: 0, outside: 0 },
    facts: null,
    first_party: rows.filter(({ id }) => isFirstParty(id)),
    sections: [
      { id: 'chosen', title: 'Chosen listings', note: '', rows: others.sort(compareRows) },
    ],
    citations: [],
  }
}
