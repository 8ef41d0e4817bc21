import { element, setAttribute, setText, showItems } from './reuse.ts'
import type { SearchFacetView, SearchOption } from './search-view.ts'

/** The lists beside the results. A list keeps its place on the page, and whether it is open. */
export function showFacets(place: Element | null, facets: readonly SearchFacetView[]): void {
  if (place === null) return
  const groups = [...place.children]
  const known = new Map(groups.map((group) => [group.querySelector('h2')?.textContent, group]))
  const wanted = facets.map((facet) => known.get(facet.label) ?? makeGroup(facet.label))
  const isSame = wanted.length === groups.length && wanted.every((one, at) => one === groups[at])
  if (!isSame) {
    place.replaceChildren()
    for (const group of wanted) place.append(group)
  }
  facets.forEach((facet, at) => {
    fillGroup(wanted[at], facet)
  })
}

function makeGroup(label: string): Element {
  const group = element('div', {})
  group.append(element('h2', {}, label), element('ul', {}))
  return group
}

function fillGroup(group: Element | undefined, { label, options, more }: SearchFacetView): void {
  if (group === undefined) return
  showOptions(group.querySelector('ul'), options)
  const rest = group.querySelector('details')
  if (more.length === 0) {
    rest?.remove()
    return
  }
  const details = rest ?? group.appendChild(makeRest(label))
  setText(details.querySelector('summary'), `${more.length} more`)
  showOptions(details.querySelector('ul'), more)
}

function makeRest(label: string): Element {
  const rest = element('details', { 'data-facet': label })
  rest.append(element('summary', {}), element('ul', {}))
  return rest
}

function showOptions(list: Element | null, options: readonly SearchOption[]): void {
  showItems(list, options, { make: makeOption, fill: fillOption })
}

function makeOption(): Element {
  const link = element('a', { rel: 'nofollow' })
  link.append(element('bdi', {}), element('span', {}))
  const item = element('li', {})
  item.append(link)
  return item
}

function fillOption(item: Element, { text, count, path, isActive }: SearchOption): void {
  const link = item.querySelector('a')
  setAttribute(link, 'href', path)
  setAttribute(link, 'aria-current', isActive ? 'true' : null)
  setText(item.querySelector('bdi'), text)
  setText(item.querySelector('span'), String(count))
}
