import { hash } from 'node:crypto'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { CompiledListing } from '../compiled.ts'
import { toXmlText } from '../components/frame/html.ts'
import { toFacetWords } from '../components/search/index-facets.ts'
import type { Catalogue } from '../derive/catalogue.ts'
import type { DerivedListing } from '../domain/derived/derived-listing.ts'
import { listedPriceOf, toCostText } from '../domain/listing/price-text.ts'
import { railsOf } from '../domain/listing/pricing.ts'
import type { ListingView } from '../domain/views/listing-view.ts'
import { FACET_STEPS, runsOf } from '../domain/wire/vocabulary.ts'
import type { Folder } from './folder.ts'

/**
 * Average listings per index. The id decides a listing's index, so that a changed listing changes
 * one of them; a browser asks all of them, so they are as few as that allows.
 */
const PAGES_PER_INDEX = 2000

/** Folder of the search in the browser, with a folder for each index. */
const FOLDER = 'public/pagefind'

/** The browser's search, while the files of listings are made. */
export interface PageSearch {
  /** Whether this listing is in an index that is made anew: our own kits never stand among results. */
  needs(listing: DerivedListing): boolean
  /** @param row of JSON, from `toSearchPage` */
  add(id: string, row: Uint8Array): void
  /**
   * Makes the indexes, in a thread of its own: Pagefind is another process, and needs answers while
   * pages are rendered.
   *
   * @throws what Pagefind says when it cannot start, or read a page.
   */
  finish(): Promise<void>
}

/** An index of the same listings, from the same inputs, is that of the release before. */
export function beginPageSearch(folder: Folder, { listings, keys }: Catalogue): PageSearch {
  const shown = listings.flatMap(({ id, facts }, at) =>
    facts.first_party ? [] : [{ id, key: keys[at] ?? '' }],
  )
  const groups = divideByIndex(shown)
  folder.writeJson(`${FOLDER}/indexes.json`, { count: groups.length })
  const made = new Map<number, Uint8Array[]>()
  for (const [place, group] of groups.entries()) {
    const inputs = group.map(({ id, key }) => [id, key])
    const isKnown = folder.reuse(`${FOLDER}/${place}`, hash('sha256', JSON.stringify(inputs)))
    if (!isKnown) made.set(place, [])
  }
  return {
    needs: ({ id, facts }) => !facts.first_party && made.has(placeOf(id, groups.length)),
    add: (id, row) => void made.get(placeOf(id, groups.length))?.push(row),
    async finish() {
      if (made.size === 0) return
      const jobs = [...made].map(([place, rows]) => ({
        ...{ place, pages: joinBytes(rows), hasProgram: place === 0 },
      }))
      // Their bytes are in the jobs.
      made.clear()
      const indexes = await indexPages(jobs)
      for (const [at, { place }] of jobs.entries())
        for (const { path, content } of indexes[at] ?? [])
          folder.write(`${FOLDER}/${place}/${path}`, content)
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

/** The files of each index. */
export async function indexPages(jobs: readonly IndexJob[]): Promise<IndexFile[][]> {
  const workerData = jobs.map(({ pages, hasProgram }) => ({ pages, hasProgram }))
  const worker = new Worker(new URL('./page-search-thread.ts', import.meta.url), {
    workerData,
    transferList: workerData.map(({ pages }) => pages.buffer),
    // Young objects in a thread are soon garbage: by default it would reserve three times as much.
    resourceLimits: { maxYoungGenerationSizeMb: 16 },
  })
  const ended = once(worker, 'exit').then(() => {
    throw new Error('the page search was not made')
  })
  ended.catch(() => undefined)
  const [made] = await Promise.race([once(worker, 'message'), ended])
  // What a thread posts is typed `any`; `page-search-thread.ts` posts this.
  const files: IndexFile[][] = made
  return files
}

/** Concatenates pieces in memory of their own that can be transferred to a thread. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

/** A listing as Pagefind gets it: its own page with only the searchable content. */
export interface SearchPage {
  url: string
  content: string
}

/** The listings of each index. */
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
  // A number in dollars; what has none comes last.
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
