import { toCountText } from '../../domain/listing/pricing.ts'
import { NOTE_PHRASES } from '../../domain/search/note-phrases.ts'
import {
  type FilterName,
  LISTED_FILTERS,
  LISTING_FILTERS,
  toFilterValue,
  toFilterWords,
} from '../../domain/search/search-filters.ts'
import type { PageResponse } from '../../domain/search/search-response.ts'
import { reportPath } from '../../domain/sellers/report.ts'
import { type ListingRow, toOrderText } from '../rows/listing-row.ts'
import { RESULTS_PER_PAGE, type SearchForm, toSearchPath, withField } from './search-form.ts'

/** The part of an answer that the page shows. */
export interface Found
  extends Pick<PageResponse, 'total' | 'notes' | 'tasks' | 'suggested' | 'featured_first_party'> {
  results: readonly ListingRow[]
  facets?:
    | Readonly<Record<string, readonly { id: string; count: number }[] | undefined>>
    | undefined
}

export type SearchView = ReturnType<typeof toSearchView>

/** Category and source names by id. */
type Names = ReadonlyMap<string, string>

/**
 * Everything that the search page shows of an answer.
 * @param without the parts that the directory lacks, and `counts` if nobody counted payments
 */
export function toSearchView(
  form: SearchForm,
  answer: Found,
  names: Names,
  without: readonly string[] = [],
) {
  const { total, results: rows } = answer
  const offset = Number(form.offset ?? 0)
  const hasPayments = !without.includes('payments')
  const orders = toOrderNotes(form, answer, hasPayments)
  const pageOf = (at: number) =>
    toSearchPath({ ...withField(form, 'offset', at > 0 ? String(at) : null) })
  return {
    tasks: (answer.tasks ?? []).map((task) => (hasPayments ? task : { ...task, min_usd: null })),
    notes: toNoteViews(form, { ...answer, notes: [...answer.notes, ...orders] }, names),
    status: toStatus(total, offset, rows.length),
    /** Why the answer has no rows; empty if it has rows. */
    nothing: rows.length > 0 ? '' : toNothing(form, total),
    hits: foldDomains(hasPayments ? rows : rows.map((row) => ({ ...row, price: null }))),
    chips: toChips(form, names),
    sorts: toSorts(form, answer, without).map(([id, text]) => ({
      text: id === 'relevance' && form.q === undefined ? 'Usual order' : text,
      path: toSearchPath(withField(form, 'sort', id === 'relevance' ? null : id)),
      isActive: (form.sort ?? 'relevance') === id,
    })),
    facets: toFacetViews(form, answer.facets ?? {}, names, without),
    previous: offset > 0 ? pageOf(Math.max(0, Math.min(offset, total) - RESULTS_PER_PAGE)) : null,
    next: offset + rows.length < total && rows.length > 0 ? pageOf(offset + rows.length) : null,
    /** The feed of changes to the results. */
    feed: toFeedPath(toSearchPath(withField(form, 'offset', null))),
  }
}

/** How many rows of one domain are visible before the rest is folded. */
const OPEN_ROWS = 3

type Hit = { row: ListingRow } | { domain: string | undefined; rows: ListingRow[] }

/** Folds a domain's fourth and later rows into one place; folds nothing if all rows share one domain. */
function foldDomains(rows: readonly ListingRow[]): Hit[] {
  const byDomain = Map.groupBy(rows, ({ domain }) => domain)
  if (byDomain.size < 2) return rows.map((row) => ({ row }))
  return rows.flatMap((row): Hit[] => {
    const same = row.domain === undefined ? [] : (byDomain.get(row.domain) ?? [])
    const place = same.indexOf(row)
    if (place < OPEN_ROWS) return [{ row }]
    return place === OPEN_ROWS ? [{ domain: row.domain, rows: same.slice(OPEN_ROWS) }] : []
  })
}

/** A search for everything has no feed: the change log covers it. */
function toFeedPath(path: string): string | null {
  const [, query] = path.split('?')
  return query === undefined ? null : `/search.atom?${query}`
}

/** A piece of a note: words, or a link in place of a parameter or an API address. */
type NotePiece = string | { text: string; path: string }

/** Where notes link if something is missing. */
const FORM = '/report'

function toNoteViews(form: SearchForm, answer: Found, names: Names): NotePiece[][] {
  const links = [
    ...toSuggestedLinks(form, answer, names),
    {
      written: NOTE_PHRASES.withoutFilters,
      text: NOTE_PHRASES.withoutFilters,
      path: toSearchPath({ ...(form.q !== undefined && { q: form.q }) }),
    },
    { written: FORM, text: 'the form', path: toFormPath(form) },
    ...(answer.tasks ?? []).map(({ name, page }) => ({ written: page, text: name, path: page })),
  ]
  // People need no note on common words, and a task's page helps more than the note on the nearest category.
  const idle = answer.tasks?.length
    ? [NOTE_PHRASES.tooCommon, NOTE_PHRASES.nearestCategory]
    : [NOTE_PHRASES.tooCommon]
  const notes = answer.notes.filter((note) => !idle.some((phrase) => note.includes(phrase)))
  return notes.map((note) => {
    if (note.startsWith(NOTE_PHRASES.closestWords)) return toWordLinks(note)
    const found = links.find(({ written }) => note.includes(written))
    if (found === undefined) return [note]
    const { written, text, path } = found
    const at = note.indexOf(written)
    return [note.slice(0, at), { text, path }, note.slice(at + written.length)]
  })
}

/** Explains an order that the rows themselves do not show. */
function toOrderNotes({ q, sort }: SearchForm, { total, facets = {} }: Found, prices: boolean) {
  const trust = (facets.min_trust ?? []).length > 0
  if (sort === 'paid') return [PAID_ORDER]
  if (q !== undefined || sort !== undefined || total === 0) return []
  return [`Usual order: ${toOrderText({ trust, places: true, prices })}.`]
}

/** Says which payments decide the order, because a row's own line may show others. */
const PAID_ORDER =
  'Ordered by settlements in the last 180 days, as counted by anybody, then by calls. Services that share a payee get equal parts of its count.'

/** Links each of the words to a search. */
function toWordLinks(note: string): NotePiece[] {
  return note
    .split(/(?<=“)([^”]+)(?=”)/)
    .map((text, at) => (at % 2 === 0 ? text : { text, path: toSearchPath({ q: text }) }))
}

/** Searches with one more filter, by the filter's name in notes. */
function toSuggestedLinks(form: SearchForm, { suggested = [] }: Found, names: Names) {
  return suggested.flatMap(({ parameters }) => {
    const { sort } = parameters
    if (sort !== undefined && form.sort === undefined)
      return [
        {
          written: `sort=${sort}`,
          text: `sorting by ${sort}`,
          path: toSearchPath(withField(form, 'sort', String(sort))),
        },
      ]
    const added = LISTING_FILTERS.filter(
      (field) => form[field] === undefined && parameters[field] !== undefined,
    )
    const [field] = added
    if (field === undefined || added.length > 1) return []
    const value = String(parameters[field])
    const text = toWords(field, value, names)
    if (parameters.q !== undefined)
      return {
        ...{ written: `${field}=${toFilterValue(field, value)}`, text },
        path: toSearchPath(withField(form, field, value)),
      }
    const { nearestCategory: near } = NOTE_PHRASES
    const path = toSearchPath({ [field]: value })
    return { written: `${near} ${value}`, text: `${near} ${text}`, path }
  })
}

/** The address of the report form, with the searched address filled in. */
function toFormPath({ q = '' }: SearchForm): string {
  return q.includes('.') ? reportPath('new', q) : FORM
}

const SORTS = [
  ['relevance', 'Best match'],
  ['price', 'Price'],
  ['trust', 'Trust'],
  ['newest', 'Newest'],
  ['calls', 'Most called'],
  ['paid', 'Most paid'],
] as const

/** An order for which no result has a value is not offered, unless chosen. */
function toSorts(
  form: SearchForm,
  { facets = {}, results: rows, total }: Found,
  without: readonly string[],
) {
  if (total === 0) return []
  const hasPrice =
    rows.some(({ price }) => price !== null) || (facets.max_price_usd ?? []).length > 0
  const hasTrust = rows.some(({ trust }) => trust !== null) || (facets.min_trust ?? []).length > 0
  const isFilled = {
    relevance: true,
    price: hasPrice && !without.includes('payments'),
    trust: hasTrust && !without.includes('trust'),
    newest: true,
    // Rows do not show others' call counts, so there is no such order.
    calls: false,
    paid:
      !without.includes('payments') &&
      (rows.some(({ paid }) => paid !== undefined) ||
        ((facets.rail ?? []).length > 0 && !without.includes('counts'))),
  }
  return SORTS.filter(([id]) => isFilled[id] || form.sort === id)
}

function toStatus(total: number, offset: number, shown: number): string {
  const count = toCountText(total, 'service')
  if (offset === 0) return count
  if (shown === 0) return `${count}, and none from ${offset + 1} on`
  return `${offset + 1} to ${offset + shown} of ${count}`
}

function toNothing(form: SearchForm, total: number): string {
  if (total > 0) return 'This page is past the last result. Go back to see the last ones.'
  const { q = '' } = form
  const words = /\s/.test(q) ? 'fewer words' : q !== '' && 'another word'
  const filters = LISTING_FILTERS.some((field) => form[field] !== undefined) && 'fewer filters'
  return `Try ${[words, filters].filter(Boolean).join(' or ')}.`
}

/** Words for a filter's value; an id with a name is shown by its name. */
function toWords(field: FilterName, value: string, names: Names): string {
  const words = toFilterWords(field, value)
  return words === value ? (names.get(value) ?? value) : words
}

/** Every filter that is set, so that none disappears silently. */
function toChips(form: SearchForm, names: Names) {
  return LISTING_FILTERS.flatMap((field) => {
    const value = form[field]
    if (value === undefined) return []
    const path = toSearchPath(withField(form, field, null))
    return [{ text: toWords(field, value, names), path }]
  })
}

/** How many of a facet's values are shown at once: nobody reads a longer list. */
const MOST_OPEN = 8

/** Lists of choices, each with its number of results. */
function toFacetViews(
  form: SearchForm,
  facets: NonNullable<Found['facets']>,
  names: Names,
  without: readonly string[],
) {
  return LISTED_FILTERS.filter(({ part }) => part === undefined || !without.includes(part))
    .map(({ name: field, label }) => {
      const options = (facets[field] ?? []).map(({ id, count }) => {
        const value = toFilterValue(field, id)
        const isActive = toFilterValue(field, form[field] ?? '') === value
        const path = toSearchPath(withField(form, field, isActive ? null : value))
        return { text: toWords(field, id, names), count, isActive, path }
      })
      type Option = (typeof options)[number]
      const isOpen = ({ isActive }: Option, place: number) => place < MOST_OPEN || isActive
      return {
        label,
        options: options.filter(isOpen),
        /** Rarely used values, shown after a click. */
        more: options.filter((option, place) => !isOpen(option, place)),
      }
    })
    .filter(({ options }) => options.length > 0)
}
