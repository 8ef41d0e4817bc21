import type { CompiledListing } from '../../compiled.ts'
import { runsOf } from '../../domain/listing/invoke.ts'
import { lowestPriceOf, railsOf } from '../../domain/listing/pricing.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'
import { FACET_STEPS } from '../../domain/wire/vocabulary.ts'
import { toXmlText } from '../../site/frame/html.ts'
import { toListingRow, toOrderText } from '../../site/rows/listing-row.ts'
import { INDEX_FACET } from '../../site/search/page-index.ts'
import { inThread, joinBytes } from '../files/in-thread.ts'
import type { ReleaseFiles } from '../files/release-files.ts'
import { digestOf } from '../files/release-writer.ts'

/**
 * Average listings per index. The id decides a listing's index, so that a changed listing changes
 * one of them; a browser asks all of them, so they are as few as that allows.
 */
const PAGES_PER_INDEX = 2000

/** Folder of the search in the browser, with a folder for each index. */
const FOLDER = 'pagefind'

export interface PageIndexes {
  /** Resolves once every new index is made; `write` throws failures. */
  indexed: Promise<unknown>
  /** @throws what Pagefind says when it cannot start, or read a page */
  write(): Promise<void>
}

/** Starts making the browser's search, in a thread. An index with unchanged texts is reused. */
export function beginPageIndexes(pages: readonly ShownPage[], files: ReleaseFiles): PageIndexes {
  const indexes = divideByIndex(pages).map((rows, place) => {
    const pages = joinBytes(rows)
    return { pages, key: `${FOLDER}/${place} ${digestOf(pages)}`, hasProgram: place === 0, place }
  })
  const jobs = indexes.filter(({ key }) => !files.reuse(key))
  const indexed = jobs.length === 0 ? Promise.resolve([]) : indexPages(jobs)
  indexed.catch(() => undefined)
  return {
    indexed,
    async write() {
      const made = await indexed
      files.writeJson(`${FOLDER}/indexes.json`, { count: indexes.length })
      for (const [at, { key, place }] of jobs.entries()) {
        const rows = made[at] ?? []
        files.writeMade(
          key,
          rows.map(({ path, content }) => [`${FOLDER}/${place}/${path}`, content]),
        )
      }
    },
  }
}

/** A file of an index: its path from the index's folder, with forward slashes. */
export interface IndexFile {
  path: string
  content: Uint8Array
}

/** An index for the search in the browser. */
export interface IndexJob {
  /** Rows of `SearchPage`, by `joinBytes`: transferred to the thread. */
  pages: Uint8Array<ArrayBuffer>
  /** Whether its files include the program that reads it, with all it needs. */
  hasProgram: boolean
}

/**
 * Indexes listings for the search in the browser, in a thread of its own: Pagefind is another
 * process, and needs answers while pages are rendered.
 *
 * @returns the files of each index
 * @throws what Pagefind says when it cannot start, or read a page.
 */
export function indexPages(jobs: readonly IndexJob[]): Promise<IndexFile[][]> {
  const program = new URL('./index-worker.ts', import.meta.url)
  const given = jobs.map(({ pages, hasProgram }) => ({ pages, hasProgram }))
  const transferList = given.map(({ pages }) => pages.buffer)
  return inThread(program, given, 'the page search was not made', transferList)
}

/** A listing as Pagefind gets it: its own page with only the searchable content. */
export interface SearchPage {
  url: string
  content: string
}

/** A listing's page as a row of JSON. */
export interface ShownPage {
  id: string
  row: Uint8Array
}

/** The rows of each index. */
export function divideByIndex(
  pages: readonly ShownPage[],
  pagesPerIndex = PAGES_PER_INDEX,
): Uint8Array[][] {
  const count = Math.max(1, Math.ceil(pages.length / pagesPerIndex))
  const indexes = Array.from({ length: count }, (): Uint8Array[] => [])
  for (const { id, row } of pages) indexes[Number.parseInt(digestOf(id, 8), 16) % count]?.push(row)
  return indexes
}

type Shown = Pick<CompiledListing, 'view' | 'description_html'>

export function toSearchPage({ view, description_html }: Shown): SearchPage {
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

/** Members of a result in addition to its name and summary (`src/site/search/page-index.ts`). */
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
    ...(trust.score !== null && trust.unknown_buyers_30d === undefined && { unvouched: 'yes' }),
  }
}

/**
 * A listing's values for each filter. Price and trust are cumulative: a listing at $0.005 has both
 * `0.01` and `0.1`, so that one choice means "at most" or "at least".
 */
export function toFacets(view: ListingView): Record<string, readonly string[]> {
  const price = lowestPriceOf(view.pricing)
  const { score } = view.trust
  return {
    kind: [view.kind],
    category: view.categories,
    rail: railsOf(view.pricing),
    price:
      price === null ? [] : FACET_STEPS.max_price_usd.filter((step) => price <= step).map(String),
    trust: score === null ? [] : FACET_STEPS.min_trust.filter((step) => score >= step).map(String),
    runs: runsOf(view),
    auth: [view.auth.type],
    source: [...new Set(view.sources.map(({ source }) => source))],
  }
}

/** The facets as Pagefind's inline attribute takes them, one value each: `kind:http_api`. */
export function toFacetTexts(view: ListingView): string[] {
  return Object.entries(toFacets(view)).flatMap(([facet, values]) =>
    values.map((value) => `${facet}:${value}`),
  )
}
