import type { CompiledListing } from '../../compiled.ts'
import { railsOf } from '../../domain/listing/pricing.ts'
import { toXmlText } from '../../site/frame/xml-text.ts'
import { toListingRow, toOrderText } from '../../site/rows/listing-row.ts'
import { toFacetTexts } from '../../site/search/listing-facets.ts'
import { INDEX_FACET } from '../../site/search/page-index.ts'
import { digestOf } from '../files/release-writer.ts'

/** What Pagefind is told of a listing: a page of its own, with nothing in it but what is searched. */
export interface SearchPage {
  url: string
  content: string
}

type Shown = Pick<CompiledListing, 'view' | 'description_html'>

/**
 * Listings that one index holds on average. Each has its index by its id alone, so that a changed
 * listing changes one of them; a browser asks all of them, so there are no more than that takes.
 */
const PAGES_PER_INDEX = 4000

/** The pages of each index. Our own kits never stand among the results. */
export function toSearchPages(
  listings: readonly Shown[],
  pagesPerIndex = PAGES_PER_INDEX,
): SearchPage[][] {
  const shown = listings.filter(({ view }) => !view.first_party)
  const count = Math.max(1, Math.ceil(shown.length / pagesPerIndex))
  const indexes = Array.from({ length: count }, (): SearchPage[] => [])
  for (const listing of shown) {
    const place = Number.parseInt(digestOf(listing.view.id, 8), 16) % count
    indexes[place]?.push(toSearchPage(listing))
  }
  return indexes
}

function toSearchPage({ view, description_html }: Shown): SearchPage {
  const order = toOrderText(toListingRow(view))
  const meta = Object.entries(toIndexMeta(view, order))
  const attributes = meta.map(([name, value]) => `data-${name}="${toXmlText(value)}"`)
  const names = meta.map(([name]) => `${name}[data-${name}]`)
  const facets = toFacetTexts(view).map((text) => `${INDEX_FACET}:${toXmlText(text)}`)
  const filters = facets.map((facet) => `<i data-pagefind-filter="${facet}"></i>`)
  const tags = view.tags.map((tag) => `<b>${toXmlText(tag)}</b> `)
  return {
    url: `${view.page}/`,
    content: [
      '<!doctype html><html lang="en"><body data-pagefind-body>',
      `<p ${attributes.join(' ')} data-pagefind-meta="${names.join(', ')}">${filters.join('')}</p>`,
      `<h1 data-pagefind-sort="order:${order}${view.id}">${toXmlText(view.name)}</h1>`,
      `<p data-pagefind-meta="summary" data-pagefind-weight="3">${toXmlText(view.summary)}</p>`,
      `<div>${description_html}</div>`,
      `<p data-pagefind-weight="2">${tags.join('')}</p>`,
      '</body></html>',
    ].join(''),
  }
}

/** What a result shows beside its name and summary (`src/site/search/page-index.ts`). */
function toIndexMeta(
  { id, kind, pricing, trust }: Shown['view'],
  order: string,
): Record<string, string> {
  const rails = railsOf(pricing)
  return {
    id,
    kind,
    order,
    ...(pricing.model === 'per_call' && { price: `${pricing.min_usd} ${pricing.max_usd}` }),
    ...(rails.length > 0 && { rails: rails.join(' ') }),
    ...(trust.score !== null && { trust: String(trust.score) }),
  }
}
