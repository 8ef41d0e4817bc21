import type { CompareView } from '../../domain/compare/compare-view.ts'
import type { Switches } from '../../domain/derived/tables.ts'
import { toNetworkName } from '../../domain/listing/networks.ts'
import { isFree, toCostText, toUsd, UNPUBLISHED } from '../../domain/listing/pricing.ts'
import { LISTED_AT, type TaskPage } from '../../domain/plans/task-offers.ts'
import { toRaisedPrice } from '../../domain/views/known-view.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'
import { present, smallestOf } from '../../domain/wire/json.ts'
import { NOTICE_TITLES } from '../../domain/wire/vocabulary.ts'
import { toWhatYouGet } from '../calls/call-rows.ts'
import { ACCESS_TEXTS, runsText } from '../rows/decision-facts.ts'
import { toTrustNote } from '../rows/listing-row.ts'

export type Versus = ReturnType<typeof toVersus>

/**
 * Listings side by side, in the given order: each is a column, with deciding facts as rows. Rows
 * without values and groups without rows are left out; a missing value is shown in words.
 */
export function toVersus(
  subjects: readonly CellSubject[],
  tasks: readonly ComparedTask[],
  { payments = true }: Partial<Switches> = {},
) {
  const groups = payments ? VERSUS_GROUPS : VERSUS_GROUPS.filter(({ title }) => title !== COST)
  return {
    columns: subjects.map(({ view }) => view),
    groups: groups
      .map(({ title, rows }) => ({
        title,
        rows: rows
          .flatMap((toRows) => toRows(subjects, tasks))
          .filter(({ cells }) => cells.some(({ isMissing }) => !isMissing))
          .map(toRow),
      }))
      .filter(({ rows }) => rows.length > 0),
  }
}

function toRow({ label, cells, isMixed = false }: ReturnType<ToRows>[number]) {
  const usd = cells.flatMap((cell) => (cell.usd === undefined ? [] : [cell.usd]))
  const lowest = smallestOf(usd)
  const hasLowest = !isMixed && usd.length > 1 && usd.some((price) => price !== lowest)
  return {
    label,
    /** Whether the columns differ. */
    differs: new Set(cells.map(({ text }) => text)).size > 1,
    cells: cells.map((cell) => ({ ...cell, isLowest: hasLowest && cell.usd === lowest })),
  }
}

/** The value of one listing in one row. */
interface VersusCell {
  text: string
  /** Whether the listing has no value here, which is not a fault. */
  isMissing: boolean
  /** Whether the text is a price. */
  isPrice?: boolean
  /** The price of one call; the lowest in a row is marked. */
  usd?: number
  /** Set if the text is a score from 0 to 100. */
  score?: number
}

interface CellSubject {
  view: ListingView
  /** The listing's calls, if they were read. */
  kit?: Parameters<typeof toWhatYouGet>[0] | undefined
  /** Set by the author of the comparison. */
  focus?: 'dedicated' | 'broad' | undefined
}

/** A task, and what those who do it charge. */
type ComparedTask = Pick<TaskPage, 'id' | 'name' | 'offers'>

type ToRows = (
  subjects: readonly CellSubject[],
  tasks: readonly ComparedTask[],
) => {
  label: string
  cells: VersusCell[]
  /** Whether the row has prices for different calls or units, so that none is marked as the lowest. */
  isMixed?: boolean
}[]

const stated = (text: string): VersusCell => ({ text, isMissing: false })
const priced = (text: string, usd?: number): VersusCell => ({
  ...stated(text),
  isPrice: true,
  ...present({ usd }),
})
const missing = (text: string): VersusCell => ({ text, isMissing: true })
type Stated = VersusCell | string | number | null | undefined
const toCell = (text: Exclude<Stated, VersusCell>, lacking: string) =>
  text === null || text === undefined || text === '' ? missing(lacking) : stated(String(text))
/** @param read a function that finds a listing's value; null, undefined and '' mean that it has none */
const row =
  (
    label: string,
    lacking: string,
    read: (view: ListingView, subject: CellSubject) => Stated,
  ): ToRows =>
  (subjects) => {
    const toStated = (subject: CellSubject) => {
      const text = read(subject.view, subject)
      return typeof text === 'object' && text !== null ? text : toCell(text, lacking)
    }
    return [{ label, cells: subjects.map(toStated) }]
  }

/** Whether a probe saw a higher price than is listed: then the listed price is never the lowest. */
const isOutdated = ({ notices }: ListingView) => notices.some(({ id }) => id === 'price_changed')

const priceRow = row('One call from', UNPUBLISHED, (view) => {
  const { pricing } = view
  if (pricing.model !== 'per_call') return toCostCell(view)
  const { min_usd, max_usd } = pricing
  if (max_usd === 0) return priced('free', 0)
  const raised = toRaisedPrice(view)
  const { least, most } = raised ?? { least: min_usd, most: max_usd }
  const range = least === most ? toUsd(least) : `${toUsd(least)} to ${toUsd(most)}`
  if (raised !== null) return priced(`${range}, listed at ${toUsd(max_usd)} at most`)
  return isOutdated(view) ? priced(`${range}, as listed`) : priced(range, min_usd)
})

/** What callers of a listing without a price are charged. */
function toCostCell(view: ListingView): VersusCell {
  const text = toCostText(view)
  if (text === UNPUBLISHED) return missing(text)
  return isFree(view) ? priced(text, 0) : stated(text)
}

/** Prices for the same task, if one is known and at least two listings, and half of those compared, do it. */
const taskRows: ToRows = (subjects, tasks) =>
  tasks.flatMap((task) => {
    const cells = subjects.map((subject) => toTaskCell(subject, task))
    const offered = cells.filter(({ isMissing }) => !isMissing)
    const isMixed = offered.some(({ usd }) => usd === undefined)
    const doing = cells.filter(({ isMissing, text }) => !isMissing || text === UNPUBLISHED)
    const isShown = offered.length > 0 && doing.length >= Math.max(2, cells.length / 2)
    return isShown ? [{ label: task.name, cells, isMixed }] : []
  })

/** The price of the listing's offer; the listing's own cost, if the offer has no price. */
function toTaskCell({ view }: CellSubject, { id, offers }: ComparedTask): VersusCell {
  // Of some tools the task is not known.
  if (!view.tasks.includes(id)) return missing(view.tools.length > 0 ? 'not stated' : 'not offered')
  if (isFree(view)) return priced('free', 0)
  const { usd = null, price = '', per } = offers.find(({ listing }) => listing.id === view.id) ?? {}
  if (usd === null)
    return view.pricing.model === 'per_call' ? missing(UNPUBLISHED) : toCostCell(view)
  if (price.includes(LISTED_AT)) return priced(price, usd)
  if (isOutdated(view)) return priced(`${price}, as listed`)
  return per === undefined ? priced(price, usd) : priced(price)
}

/** The lowest price of any call is left out if prices for the same task are shown. */
const costRows: ToRows = (subjects, tasks) => {
  const same = taskRows(subjects, tasks)
  const any = priceRow(subjects, tasks)
  return [...same, ...any.map((prices) => ({ ...prices, isMixed: same.length > 0 }))]
}

const trustRow = row('Trust', 'unmeasured', ({ trust }) => {
  if (trust.score === null)
    return trust.evidence === 'no_payment_data' ? null : missing('no independent buyer')
  const text = [String(trust.score), toTrustNote(trust)].filter(Boolean).join(', ')
  return { text, isMissing: false, score: trust.score }
})

const focusRow = row(
  'Made for',
  'not stated',
  (_, { focus }) => focus && (focus === 'dedicated' ? 'this' : 'this and more'),
)

const signal = (view: ListingView, name: string, unit: string) =>
  view.signals[name] === undefined ? null : `${view.signals[name]} ${unit}`
const measured = (view: ListingView) =>
  view.trust.evidence === 'no_payment_data' ? null : view.trust

/** The latest good answer; if there is none, the latest failure, with its day. */
const stateRow = row('State', 'not probed', ({ known: { answers } }) =>
  answers?.as_of === undefined ? null : answers.text.replace(/^it /, ''),
)

/**
 * The answer of an API's operation for the first task that is compared, or of its first operation; for other kinds,
 * the names of their tools or skills.
 */
const getsRow: ToRows = (subjects, tasks) => {
  const compared = tasks.find((task) => taskRows(subjects, [task]).length > 0)
  return row('You get', 'not described', (_, { kit }) => {
    if (kit === undefined) return null
    const doing = kit.operations.filter(({ task }) => task !== undefined && task === compared?.id)
    const [gets] = toWhatYouGet(doing.length > 0 ? { ...kit, operations: doing } : kit)
    return gets && (kit.kind === 'http_api' ? gets.value : `${gets.value}: ${gets.note}`)
  })(subjects, tasks)
}

const COST = 'Cost'
const VERSUS_GROUPS: readonly { title: string; rows: readonly ToRows[] }[] = [
  { title: 'Answers', rows: [stateRow, getsRow] },
  {
    title: COST,
    rows: [
      costRows,
      row('Pays with', 'no rail', ({ pricing }) =>
        pricing.model === 'per_call' ? pricing.rails.join(', ') : null,
      ),
      row('Networks', 'none named', ({ pricing }) =>
        pricing.model === 'per_call' ? pricing.networks.map(toNetworkName).join(', ') : null,
      ),
    ],
  },
  {
    title: 'Access',
    rows: [
      focusRow,
      row('Account or key', 'not declared', ({ auth }) =>
        auth.type === 'unknown' ? null : ACCESS_TEXTS[auth.type][0].toLowerCase(),
      ),
      row('Runs', '–', (view) => runsText(view).toLowerCase()),
      row('Through the relay', 'no', ({ buy }) => (buy === 'relay_x402' ? 'yes' : null)),
      row(
        'Operations',
        'none listed',
        ({ operations, tools, skills }) =>
          Math.max(operations.length, tools.length, skills.length) || null,
      ),
    ],
  },
  {
    title: 'Evidence',
    rows: [
      trustRow,
      row('Buyers, 30 days', 'no data', (view) => measured(view)?.verified_buyers_30d),
      row('Settlements, 30 days', 'no data', (view) => measured(view)?.settlements_30d),
      row('Paid, as others counted', 'not counted', (view) =>
        measured(view) === null && view.known.paid?.known ? view.known.paid.text : null,
      ),
      row('Uptime, 30 days', 'no data', (view) => signal(view, 'uptime_30d', '%')),
      row('95 % answered within', 'no data', (view) => signal(view, 'p95_ms', 'ms')),
      row('Owner', 'unclaimed', ({ status }) => (status === 'claimed' ? status : null)),
      row('Notices', 'none', ({ notices }) =>
        notices.map(({ id }) => NOTICE_TITLES[id].toLowerCase()).join(', '),
      ),
    ],
  },
]

/** How many services a comparison shows. */
export function countCompared({ sections }: Pick<CompareView, 'sections'>): number {
  return sections.reduce((sum, { rows }) => sum + rows.length, 0)
}

/** Data for `/compare?ids=`: chosen listings, and why others are missing. */
export interface ChosenListings {
  /** In the order they were chosen. */
  subjects: readonly CellSubject[]
  /** A sentence for each requested listing that is not shown. */
  leftOut: readonly string[]
  tasks: readonly ComparedTask[]
}
