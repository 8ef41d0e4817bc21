import { toUsd } from '../../operation/price-text.ts'
import { KIND_LABELS, KINDS } from '../../wire/vocabulary.ts'
import type { SearchAnswer } from './search-answer.ts'
import {
  RESULTS_PER_PAGE,
  type SearchField,
  type SearchForm,
  toSearchPath,
  withField,
} from './search-form.ts'

/** Everything the search page says of an answer; printed alike by the server and in the browser. */
export interface SearchView {
  status: string
  /** Why there are no rows; empty where there are some. */
  nothing: string
  chips: { text: string; path: string }[]
  sorts: { text: string; path: string; isActive: boolean }[]
  facets: SearchFacetView[]
  previous: string | null
  next: string | null
}

export interface SearchFacetView {
  label: string
  options: SearchOption[]
  /** Those that are seldom wanted, behind one more step. */
  more: SearchOption[]
}

export interface SearchOption {
  text: string
  count: number
  path: string
  isActive: boolean
}

/** Names of what has an id: of categories and sources. */
export type Names = ReadonlyMap<string, string>

type Results = Extract<SearchAnswer, { kind: 'results' }>

export function toSearchView(form: SearchForm, answer: Results, names: Names): SearchView {
  const { total, offset, rows } = answer
  const pageOf = (at: number) =>
    toSearchPath({ ...withField(form, 'offset', at > 0 ? String(at) : null) })
  return {
    status: toStatus(total, offset, rows.length),
    nothing: rows.length > 0 ? '' : toNothing(total),
    chips: toChips(form, names),
    sorts: SORTS.map(([id, text]) => ({
      text,
      path: toSearchPath(withField(form, 'sort', id === 'relevance' ? null : id)),
      isActive: (form.sort ?? 'relevance') === id,
    })),
    facets: toFacetViews(form, answer.facets, names),
    previous: offset > 0 ? pageOf(Math.max(0, Math.min(offset, total) - RESULTS_PER_PAGE)) : null,
    next: offset + rows.length < total && rows.length > 0 ? pageOf(offset + rows.length) : null,
  }
}

const SORTS = [
  ['relevance', 'Best match'],
  ['price', 'Price'],
  ['trust', 'Trust'],
  ['newest', 'Newest'],
] as const

function toStatus(total: number, offset: number, shown: number): string {
  const count = `${total} ${total === 1 ? 'service' : 'services'}`
  if (offset === 0) return count
  if (shown === 0) return `${count}, and none from ${offset + 1} on`
  return `${offset + 1} to ${offset + shown} of ${count}`
}

function toNothing(total: number): string {
  return total === 0
    ? 'Nothing matches. Try fewer words or fewer filters.'
    : 'This page is past the last result. The page before it has the last ones.'
}

const ACCESS: Readonly<Record<string, string>> = {
  none: 'open',
  payment: 'payment only',
  api_key: 'API key',
  bearer: 'token',
  oauth: 'OAuth',
  other: 'its own way',
  unknown: 'not declared',
}
const RUNS: Readonly<Record<string, string>> = { remote: 'hosted', local: 'on your machine' }

const toPrice = (value: string) =>
  value === '0' ? 'free' : `up to ${Number.isFinite(Number(value)) ? toUsd(Number(value)) : value}`
const toKind = (value: string) => {
  const kind = KINDS.find((known) => known === value)
  return kind === undefined ? value : KIND_LABELS[kind]
}

/** Words for a value of a field; what nobody knows stands as it is. */
function toWords(field: SearchField, value: string, names: Names): string {
  if (field === 'kind') return toKind(value)
  if (field === 'auth') return ACCESS[value] ?? value
  if (field === 'runs') return RUNS[value] ?? value
  if (field === 'max_price_usd') return toPrice(value)
  if (field === 'min_trust') return value === '0' ? 'scored' : `trust ${value} or more`
  if (field === 'paid_only') return 'paid'
  if (field === 'has') return `has ${value.replaceAll('_', ' ')}`
  return names.get(value) ?? value
}

const CHIP_FIELDS = [
  'kind',
  'category',
  'rail',
  'source',
  'max_price_usd',
  'min_trust',
  'paid_only',
  'has',
  'auth',
  'runs',
] as const

/** Every filter that is set, whoever set it: none vanishes without a word. */
function toChips(form: SearchForm, names: Names): SearchView['chips'] {
  return CHIP_FIELDS.flatMap((field) => {
    const value = form[field]
    if (value === undefined) return []
    return [
      { text: toWords(field, value, names), path: toSearchPath(withField(form, field, null)) },
    ]
  })
}

const COUNTED = [
  ['kind', 'Kind'],
  ['category', 'Category'],
  ['max_price_usd', 'Price of a call'],
  ['rail', 'Pays with'],
  ['auth', 'Access'],
  ['runs', 'Runs'],
  ['min_trust', 'Trust'],
  ['source', 'Source'],
] as const

/** More values of one facet than this make a list nobody reads. */
const MOST_OPEN = 8

/** Lists of what can be chosen, with what each choice would give. */
function toFacetViews(
  form: SearchForm,
  facets: Results['facets'],
  names: Names,
): SearchFacetView[] {
  return COUNTED.map(([field, label]) => {
    const options = (facets[field] ?? []).map(({ id, count }) => {
      const isActive = form[field] === id
      const path = toSearchPath(withField(form, field, isActive ? null : id))
      return { text: toWords(field, id, names), count, isActive, path }
    })
    const isOpen = (option: SearchOption, place: number) => place < MOST_OPEN || option.isActive
    return {
      label,
      options: options.filter(isOpen),
      more: options.filter((option, place) => !isOpen(option, place)),
    }
  }).filter(({ options }) => options.length > 0)
}
