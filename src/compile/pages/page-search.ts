import type { CompiledListing } from '../../compiled.ts'
import { railsOf } from '../../domain/listing/pricing.ts'
import { toRanks } from '../../domain/pages/rows/listing-row.ts'
import { toFacetTexts } from '../../domain/pages/search/listing-facets.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'
import { toXmlText } from '../../render/xml-text.ts'

/** What Pagefind is told of a listing: a page of its own, with nothing in it but what is searched. */
export interface SearchPage {
  url: string
  content: string
}

/** Our own kits never stand among the results. */
export function toSearchPages(listings: readonly CompiledListing[]): SearchPage[] {
  // Places of a search without words; a page that printed its own would change with each listing.
  const ranks = toRanks(listings)
  return listings
    .filter(({ view }) => !view.first_party)
    .map((listing) => toSearchPage(listing, ranks.get(listing.view.id) ?? 0))
}

function toSearchPage({ view, description_html }: CompiledListing, rank: number): SearchPage {
  const meta = Object.entries(toMeta(view))
  const attributes = meta.map(([name, value]) => `data-${name}="${toXmlText(value)}"`)
  const names = meta.map(([name]) => `${name}[data-${name}]`)
  const facets = toFacetTexts(view)
  const filters = facets.map((text) => `<i data-pagefind-filter="${toXmlText(text)}"></i>`)
  const tags = view.tags.map((tag) => `<b>${toXmlText(tag)}</b> `)
  return {
    url: `${view.page}/`,
    content: [
      '<!doctype html><html lang="en"><body data-pagefind-body>',
      `<p ${attributes.join(' ')} data-pagefind-meta="${names.join(', ')}">${filters.join('')}</p>`,
      `<h1 data-pagefind-sort="rank:${rank}">${toXmlText(view.name)}</h1>`,
      `<p data-pagefind-meta="summary" data-pagefind-weight="3">${toXmlText(view.summary)}</p>`,
      `<div>${description_html}</div>`,
      `<p data-pagefind-weight="2">${tags.join('')}</p>`,
      '</body></html>',
    ].join(''),
  }
}

/** What a result shows beside its name and summary (`src/domain/pages/search/page-index.ts`). */
function toMeta({ id, kind, pricing, trust }: ListingView): Record<string, string> {
  const rails = railsOf(pricing)
  return {
    id,
    kind,
    ...(pricing.model === 'per_call' && { price: `${pricing.min_usd} ${pricing.max_usd}` }),
    ...(rails.length > 0 && { rails: rails.join(' ') }),
    ...(trust.score !== null && { trust: String(trust.score) }),
  }
}
