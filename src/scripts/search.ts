import {
  RESULTS_PER_PAGE,
  type SearchForm,
  toSearchPath,
} from '../domain/pages/search/search-form.ts'
import { type Found, loadPagefind, type Pagefind } from './pagefind.ts'
import { addArrowKeys } from './search-keys.ts'
import { isAnsweredHere, readForm, toFilters } from './search-query.ts'
import { toResultElement } from './search-results.ts'

/**
 * Instant results while typing. The server has answered the address the page was opened with;
 * from the first change on, the index in the browser answers, and the address follows.
 */
const TYPING_PAUSE = 90

const form = document.querySelector<HTMLFormElement>('[data-search-page]')
const box = form?.querySelector<HTMLInputElement>('[data-search]')
const list = form?.querySelector<HTMLOListElement>('[data-results]')
const status = form?.querySelector<HTMLElement>('[data-status]')
const more = form?.querySelector<HTMLElement>('[data-more]')
const template = document.querySelector<HTMLTemplateElement>('[data-result]')

if (form && box && list && status && more && template)
  start({ form, box, list, status, more, template })

interface Parts {
  form: HTMLFormElement
  box: HTMLInputElement
  list: HTMLOListElement
  status: HTMLElement
  more: HTMLElement
  template: HTMLTemplateElement
}

function start(parts: Parts): void {
  const { form, box, more } = parts
  /** Each search has a number: an answer to an older one is dropped. */
  let latest = 0
  let found: Found | null = null
  let shown = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  const showMore = async (number: number) => {
    const next = found?.results.slice(shown, shown + RESULTS_PER_PAGE) ?? []
    const fragments = await Promise.all(next.map((result) => result.data()))
    if (number !== latest || found === null) return
    if (shown === 0) parts.list.replaceChildren()
    parts.list.append(...fragments.map((fragment) => toResultElement(parts.template, fragment)))
    shown += fragments.length
    more.hidden = shown >= found.results.length
  }

  const search = async () => {
    const number = ++latest
    const wanted = readForm(form)
    if (!isAnsweredHere(wanted)) return form.requestSubmit()
    history.replaceState(null, '', toSearchPath(wanted))
    const pagefind = await loadPagefind().catch(() => null)
    // Without the index the server answers.
    if (pagefind === null) return form.requestSubmit()
    const answer = await ask(pagefind, wanted)
    if (number !== latest) return
    found = answer
    shown = 0
    clearServerAnswer(form)
    parts.status.textContent = toStatus(answer.results.length, wanted)
    await showMore(number)
    await showCounts(pagefind, form, wanted, answer)
  }

  form.addEventListener('input', (event) => {
    clearTimeout(timer)
    timer = setTimeout(search, event.target === box ? TYPING_PAUSE : 0)
  })
  box.addEventListener('focus', () => void loadPagefind().catch(() => null), { once: true })
  more.addEventListener('click', () => void showMore(latest))
  addArrowKeys(form, box)
  if (readForm(form).remote !== undefined) void search()
}

function ask(pagefind: Pagefind, wanted: SearchForm, without = ''): Promise<Found> {
  const filters = toFilters(wanted)
  delete filters[without]
  // Without words every page matches alike: the order is the directory's own.
  return wanted.q === undefined
    ? pagefind.search(null, { filters, sort: { rank: 'asc' } })
    : pagefind.search(wanted.q, { filters })
}

/** A filter's own counts leave that filter out: they say what another choice would give. */
async function showCounts(
  pagefind: Pagefind,
  form: HTMLFormElement,
  wanted: SearchForm,
  answer: Found,
): Promise<void> {
  const active = toFilters(wanted)
  for (const select of form.querySelectorAll<HTMLSelectElement>('select[data-facet]')) {
    const facet = select.dataset.facet ?? ''
    const { filters } = active[facet] === undefined ? answer : await ask(pagefind, wanted, facet)
    for (const option of select.options)
      if (option.dataset.text !== undefined)
        option.textContent = `${option.dataset.text} (${filters[facet]?.[option.value] ?? 0})`
  }
}

/** What the server said of the address the page was opened with. */
function clearServerAnswer(form: HTMLFormElement): void {
  for (const element of form.querySelectorAll('[data-notice], [data-pager], [data-own]'))
    element.remove()
}

function toStatus(count: number, { q }: SearchForm): string {
  if (count === 0 && q !== undefined)
    return 'Nothing matches as typed. Press Search: it also looks for other spellings.'
  if (count === 0) return 'Nothing matches. Try fewer filters.'
  return count === 1 ? '1 result' : `${count} results`
}
