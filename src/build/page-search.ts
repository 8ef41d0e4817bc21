import { hash } from 'node:crypto'
import type { CompiledListing } from '../compiled.ts'
import { toFacetWords } from '../components/search/index-facets.ts'
import type { Catalogue } from '../derive/catalogue.ts'
import type { DerivedListing } from '../domain/derived/derived-listing.ts'
import { listedPriceOf, railsOf, toCostText } from '../domain/listing/pricing.ts'
import type { ListingView } from '../domain/views/listing-view.ts'
import { toXmlText } from '../domain/wire/escape.ts'
import { FACET_STEPS, runsOf } from '../domain/wire/vocabulary.ts'
import type { Folder } from './folder.ts'

/**
 * Average number of listings per index. A listing's id decides its index, so a changed listing changes
 * only one index. A browser queries every index, so this number is large, to keep the indexes few.
 */
const PAGES_PER_INDEX = 2000

/** The folder for the search in the browser, with a folder for each index. */
const FOLDER = 'public/pagefind'

/**
 * The browser's search, prepared while the listings' files are made. An index is taken from the
 * previous release if its listings and inputs are the same.
 */
export function beginPageSearch(folder: Folder, { listings, keys }: Catalogue) {
  const shown = listings.flatMap(({ id, facts }, at) =>
    facts.first_party ? [] : [{ id, key: keys[at] ?? '' }],
  )
  const groups = divideByIndex(shown)
  folder.writeJson(`${FOLDER}/indexes.json`, { count: groups.length })
  const made = new Map<number, Buffer[]>()
  for (const [place, group] of groups.entries()) {
    const inputs = group.map(({ id, key }) => [id, key])
    const isKnown = folder.reuse(`${FOLDER}/${place}`, hash('sha256', JSON.stringify(inputs)))
    if (!isKnown) made.set(place, [])
  }
  return {
    /** Whether this listing is in an index that is made anew; our own kits are never among results. */
    needs: ({ id, facts }: DerivedListing) =>
      !facts.first_party && made.has(placeOf(id, groups.length)),
    add(id: string, page: SearchPage): void {
      // Kept as bytes, because they stay in memory while all pages are rendered.
      made.get(placeOf(id, groups.length))?.push(Buffer.from(JSON.stringify(page)))
    },
    /** @throws Error with Pagefind's message if it cannot start or read a page */
    async finish(): Promise<void> {
      for (const [place, rows] of made)
        for (const { path, content } of await indexPages(rows, place === 0))
          folder.write(`${FOLDER}/${place}/${path}`, content)
    },
  }
}

/** Pagefind's other interfaces. */
const UNUSED = /^pagefind-(?:modular-ui|component-ui|highlight)\./

/** The code that reads an index, with its interface: one copy serves all indexes. */
const PROGRAM = /^pagefind(?:-worker|-ui)?\.(?:js|css)$|^wasm\./

/** Pages sent at once: Pagefind answers each, and answers must not pile up. */
const AT_ONCE = 200

/**
 * One index's files for the search in the browser, with their paths in its folder. Pagefind does
 * the work in another process.
 * @param rows the JSON of one `SearchPage` each
 * @param hasProgram whether to include the program that reads an index, with all it needs
 */
export async function indexPages(rows: readonly Uint8Array[], hasProgram: boolean) {
  const { close, createIndex } = await import('pagefind')
  const { index, errors } = await createIndex()
  if (index === undefined) throw new Error(`Pagefind did not start: ${errors.join('; ')}`)
  for (let from = 0; from < rows.length; from += AT_ONCE) {
    // JSON.parse returns `any`; `add` made the rows from this very type.
    const pages: SearchPage[] = rows
      .slice(from, from + AT_ONCE)
      .map((row) => JSON.parse(Buffer.from(row).toString()))
    const added = await Promise.all(pages.map((page) => index.addHTMLFile(page)))
    const refused = added.flatMap((answer) => answer.errors)
    if (refused.length > 0)
      throw new Error(`Pagefind could not read some pages: ${refused.join('; ')}`)
  }
  // Pagefind's own writing takes as long as the rest: it creates the folder again for each file.
  const { files, errors: failures } = await index.getFiles()
  if (failures.length > 0)
    throw new Error(`Pagefind could not make its index: ${failures.join('; ')}`)
  await close()
  return files.filter(({ path }) => !UNUSED.test(path) && (hasProgram || !PROGRAM.test(path)))
}

/** A listing as Pagefind gets it: its own page with only the searchable content. */
export interface SearchPage {
  url: string
  content: string
}

/** Divides the listings among the indexes. */
export function divideByIndex<Listing extends { id: string }>(
  listings: readonly Listing[],
  perIndex = PAGES_PER_INDEX,
): Listing[][] {
  const count = Math.max(1, Math.ceil(listings.length / perIndex))
  const indexes = Array.from({ length: count }, (): Listing[] => [])
  for (const listing of listings) indexes[placeOf(listing.id, count)]?.push(listing)
  return indexes
}

function placeOf(id: string, count: number): number {
  return Number.parseInt(hash('sha256', id).slice(0, 8), 16) % count
}

type Shown = Pick<CompiledListing, 'view' | 'description_html'>

export function toSearchPage({ view, description_html }: Shown): SearchPage {
  const facets = Object.entries(toIndexFacets(view)).flatMap(([facet, values]) =>
    values.map((value) => `<i data-pagefind-filter="${facet}">${toXmlText(value)}</i>`),
  )
  const tags = view.tags.map((tag) => `<b>${toXmlText(tag)}</b> `)
  const price = toCostText(view)
  // The price in dollars; listings without a price come last.
  const usd = listedPriceOf(view) ?? 1e6
  return {
    url: `${view.page}/`,
    content: [
      '<!doctype html><html lang="en"><body data-pagefind-body>',
      `<p data-pagefind-ignore>${facets.join('')}</p>`,
      `<p data-price="${toXmlText(price)}" data-pagefind-meta="price[data-price]" data-usd="${usd}" data-pagefind-sort="price[data-usd]"></p>`,
      `<h1>${toXmlText(view.name)}</h1>`,
      `<p data-pagefind-weight="3">${toXmlText(view.summary)}</p>`,
      `<div>${description_html}</div>`,
      `<p data-pagefind-weight="2">${tags.join('')}</p>`,
      '</body></html>',
    ].join(''),
  }
}

/** A listing's values for each filter, in words. */
export function toIndexFacets(view: ListingView) {
  const { kind, categories, pricing, auth } = view
  const usd = listedPriceOf(view)
  return toFacetWords({
    kind,
    category: categories,
    max_price_usd: FACET_STEPS.max_price_usd
      .filter((step) => usd !== null && usd <= step)
      .map(String),
    rail: railsOf(pricing),
    runs: runsOf(view),
    auth: auth.type,
  })
}
