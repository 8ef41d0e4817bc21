import type { SearchAnswer } from '../domain/pages/search/search-answer.ts'
import {
  parseSearchForm,
  type SearchForm,
  toApiQuery,
  toSearchPath,
} from '../domain/pages/search/search-form.ts'
import { toSearchRow } from '../domain/pages/search/search-row.ts'
import { toSearchView } from '../domain/pages/search/search-view.ts'
import type { Kind } from '../domain/wire/vocabulary.ts'
import { addArrowKeys } from './search-keys.ts'
import { type SearchParts, showAnswer } from './search-results.ts'

/**
 * Results while somebody types: the same function that answers the submitted page, asked for short
 * rows. The last question wins; an answer to an older one is dropped, and the question is cut off.
 */
const TYPING_PAUSE = 90

const box = document.querySelector<HTMLInputElement>('[data-search-page] [data-search]')
const lookup = document.querySelector<HTMLElement>('[data-lookup]')
if (box && lookup) start(box, lookup)

function start(box: HTMLInputElement, lookup: HTMLElement): void {
  const names = new Map<string, string>(JSON.parse(lookup.dataset.names ?? '[]'))
  const parts: SearchParts = { lookup }
  let timer: ReturnType<typeof setTimeout> | undefined
  let asking: AbortController | undefined
  const search = async () => {
    asking?.abort()
    asking = new AbortController()
    const { signal } = asking
    const form = readForm(box)
    const answer = await ask(form, signal).catch(() => null)
    if (signal.aborted) return
    // Whatever went wrong, the submitted page says it.
    if (answer === null) return box.form?.requestSubmit()
    history.replaceState(null, '', toSearchPath(form))
    showAnswer(parts, answer, toSearchView(form, answer, names))
  }
  box.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(() => void search(), TYPING_PAUSE)
  })
  addArrowKeys(lookup, box)
}

/** The filters are those of the address; only the words change while typing. */
function readForm(box: HTMLInputElement): SearchForm {
  const params = new URLSearchParams(location.search)
  params.set('q', box.value)
  params.delete('offset')
  return parseSearchForm(params)
}

type Results = Extract<SearchAnswer, { kind: 'results' }>

interface CompactAnswer {
  total: number
  notes: string[]
  facets?: Results['facets']
  results: {
    id: string
    name: string
    kind: Kind
    summary: string
    price: { min_usd: number; max_usd: number } | null
    rails: string[]
    trust: number | null
  }[]
}

/** @throws when nothing answers, or something else than a search */
async function ask(form: SearchForm, signal: AbortSignal): Promise<Results> {
  const response = await fetch(`/api/v1/search?${toApiQuery(form, 'compact')}`, {
    signal,
    headers: { 'Waypost-Typing': '1' },
  })
  if (!response.ok) throw new Error(`search answered ${response.status}`)
  // Our own API, of the same release as this script.
  const found: CompactAnswer = await response.json()
  return {
    kind: 'results',
    total: found.total,
    offset: 0,
    rows: found.results.map(toSearchRow),
    own: [],
    notes: found.notes,
    facets: found.facets ?? {},
  }
}
