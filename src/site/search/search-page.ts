import { askSearch } from './ask-search.ts'
import { parseSearchForm, RESULTS_PER_PAGE, type SearchForm, toSearchPath } from './search-form.ts'
import { toSearchView } from './search-view.ts'
import { addArrowKeys, showAnswer, showReason, whileTyping } from './show-answer.ts'

/** The search page while somebody types: what a submitted search would show, row for row. */
const box = document.querySelector<HTMLInputElement>('[data-search]')
const lookup = document.querySelector<HTMLElement>('[data-lookup]')
if (box && lookup) start(box, lookup)

function start(box: HTMLInputElement, lookup: HTMLElement): void {
  const names = new Map<string, string>(JSON.parse(lookup.dataset.names ?? '[]'))
  const search = async (form: SearchForm, signal: AbortSignal) => {
    const asked = await askSearch(form, { limit: RESULTS_PER_PAGE, hasFacets: true, signal })
    if (signal.aborted) return
    history.replaceState(null, '', toSearchPath(form))
    if (asked.kind === 'refused') showReason(lookup, asked.reason)
    else showAnswer(lookup, asked, toSearchView(form, asked, names))
  }
  whileTyping(box, (signal) => search(readForm(box), signal))
  addArrowKeys(lookup, box)
  // A copy of the site without functions has this page as a file: nobody answered its address yet.
  if ('unanswered' in lookup.dataset) {
    const form = parseSearchForm(new URLSearchParams(location.search))
    box.value = form.q ?? ''
    void search(form, new AbortController().signal)
  }
}

/** The filters are those of the address; only the words change while typing. */
function readForm(box: HTMLInputElement): SearchForm {
  const params = new URLSearchParams(location.search)
  params.set('q', box.value)
  params.delete('offset')
  return parseSearchForm(params)
}
