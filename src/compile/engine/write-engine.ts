import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import type { Catalogue } from '../../derive/catalogue.ts'
import {
  type DerivedListing,
  isVouched,
  trustScoreOf,
  verifiedBuyersOf,
} from '../../domain/derived/derived-listing.ts'
import type { SearchWords } from '../../domain/derived/query-words.ts'
import type { Tables } from '../../domain/derived/tables.ts'
import { toOperationEntries } from '../../domain/kit/operation-entries.ts'
import { hasRemoteEndpoint, runsOf } from '../../domain/listing/invoke.ts'
import {
  costOf,
  highestPriceOf,
  lowestPriceOf,
  networksOf,
  railsOf,
} from '../../domain/listing/pricing.ts'
import { ownDomainOf } from '../../domain/owners/shared-hosts.ts'
import { mostReportedCalls } from '../../domain/trust/reported-use.ts'
import { sourceIdsOf, toPreparedSummary } from '../../domain/views/summary-view.ts'
import { DISCOVERY_FILES } from '../../domain/wire/vocabulary.ts'
import { createDocumentReader, joinReadings } from '../../search/index/build-index.ts'
import type { IndexNoun } from '../../search/index/index-shape.ts'
import { loadSearchIndex } from '../../search/index/load-index.ts'
import type { ReadDocument, SearchDocument } from '../../search/index/search-document.ts'
import { findEnglish, latinWordsOf } from '../../search/query/foreign-words.ts'
import { createWordSets } from '../../search/words/word-sets.ts'
import { KEY, memoize, noCache, openBuildCache } from '../files/build-cache.ts'
import { inThread } from '../files/in-thread.ts'
import { digestOf, splitRows } from '../files/release-writer.ts'

const [encoder, decoder] = [new TextEncoder(), new TextDecoder()]

/** The content tables that the indexes are made with. */
export interface IndexTables {
  categories: string[]
  sources: string[]
  words: SearchWords
  /** See `IndexData`. */
  english?: readonly string[]
}

/** For the index of operations: both detect the same language in a query. */
export function withEnglish(
  tables: IndexTables,
  listings: Uint8Array,
  cache = noCache(),
): IndexTables {
  const make = () => Buffer.from(JSON.stringify(latinWordsOf(createWordSets(tables.words))))
  // JSON.parse is typed `any`; it was written from this very type.
  const words: string[] = JSON.parse(memoize(cache, 'words of other languages', make).toString())
  return { ...tables, english: findEnglish(loadSearchIndex(listings), words) }
}

export function toIndexTables({ tables }: Pick<Catalogue, 'tables'>): IndexTables {
  return {
    categories: tables.categories.map(({ id }) => id),
    sources: tables.sources.map(({ id }) => id),
    words: { ...tables.searchWords, foreign: tables.foreignWords },
  }
}

/** The operations of a listing, found by their own words and by those of the listing. */
export function toOperationDocuments(
  listing: DerivedListing,
  directory: Directory,
): SearchDocument[] {
  const { baseUrl } = directory
  const document = toSearchDocument(listing, directory)
  return toOperationEntries(listing, baseUrl).map((entry, at) => {
    const id = `${document.id}~${at}`
    const { names, description, offers, minUsd, effect, slots } = entry
    const { listing: shown, operation } = entry.found
    return {
      ...document,
      id,
      name: names[0] ?? document.name,
      rails: [...entry.rails],
      networks: [...entry.networks],
      offers: offers.map(({ rail, network, min_usd }) => ({
        rail,
        ...(network !== undefined && { network }),
        minUsd: min_usd,
      })),
      ...(effect !== null && { effect }),
      minUsd,
      isFree: document.isFree && minUsd === null,
      texts: {
        name: names,
        labels: [document.name, ...document.tags, ...document.categories],
        summary: [description],
      },
      body: encoder.encode(
        JSON.stringify({ id, listing: shown, digest: listing.digest, slots, operation }),
      ),
    }
  })
}

/** A document as a row of JSON. */
export function toDocumentRow({ body, ...document }: SearchDocument): object {
  return { ...document, body: decoder.decode(body) }
}

function parseDocument(row: Uint8Array): SearchDocument {
  // JSON.parse is typed `any`; the row was written from this very document.
  const { body, ...document }: Omit<SearchDocument, 'body'> & { body: string } = JSON.parse(
    decoder.decode(row),
  )
  return { ...document, body: encoder.encode(body) }
}

/**
 * @param groups rows of `toDocumentRow`, a line each; one is taken out as it is read, and so is free
 * @param cache of what groups were read as
 * @throws Error naming the listing that cannot be indexed
 */
export function toSearchIndex(
  noun: IndexNoun,
  groups: Uint8Array[],
  tables: IndexTables,
  cache = noCache(),
): Uint8Array {
  const options = { noun, ...tables }
  const read = createDocumentReader(options)
  function* readGroups(): Generator<ReadDocument> {
    for (let rows = groups.shift(); rows !== undefined; rows = groups.shift()) {
      const make = () => serialize(splitRows(rows).map((row) => read(parseDocument(row))))
      // What is deserialized is typed `any`; it was written from this very type.
      const readings: ReadDocument[] = deserialize(memoize(cache, rows, make))
      yield* readings
    }
  }
  return joinReadings(readGroups(), options)
}

/** The index of the listings and that of their operations, as files. */
export type SearchIndexes = Record<'listings' | 'operations', Uint8Array>

/** Of each group of listings its rows of `toDocumentRow`, a line each. */
export type Documents = Record<keyof SearchIndexes, Uint8Array<ArrayBuffer>[]>

/** The input of the index thread. */
export interface IndexWork {
  /** The thread takes them over. */
  documents: Documents
  tables: IndexTables
  /** Cache folder of builds. */
  cacheDir: string
  /** Of the code, see `openBuildCache`. */
  code: string
}

/** One behind the other: at once they would take twice the memory. @throws as `toSearchIndex` */
export function makeIndexesHere({ documents, tables, cacheDir, code }: IndexWork): SearchIndexes {
  const open = (name: keyof SearchIndexes, tables: IndexTables) =>
    openBuildCache(join(cacheDir, `${name}.index`), digestOf(JSON.stringify([code, tables])))
  const cache = open('listings', tables)
  const listings = toSearchIndex('listing', documents.listings, tables, cache)
  const told = withEnglish(tables, listings, cache)
  cache.close()
  const others = open('operations', told)
  // Few changes of a listing change its operations; the other index is long, and always new.
  const key = documents.operations.map((rows) => digestOf(rows, KEY)).join()
  const make = () => toSearchIndex('operation', documents.operations, told, others)
  const operations = memoize(others, key, make)
  others.close()
  return { listings, operations }
}

/** Both in a thread, while other parts of a release are made. @throws as `toSearchIndex` */
export function makeSearchIndexes(work: IndexWork): Promise<SearchIndexes> {
  const program = new URL('./write-engine-worker.ts', import.meta.url)
  const transferList = Object.values(work.documents).flatMap((groups) =>
    groups.map(({ buffer }) => buffer),
  )
  const ended = 'the thread of the search index ended before its work'
  return inThread(program, work, ended, transferList)
}

/** Where a directory is, and whose the hosts of its listings are. */
interface Directory {
  baseUrl: string
  tables: Pick<Tables, 'sharedHosts'>
}

export function toSearchDocument(
  listing: DerivedListing,
  { baseUrl, tables }: Directory,
): SearchDocument {
  const { id, facts, trust } = listing
  const domain = ownDomainOf(facts.url, tables.sharedHosts)
  return {
    id,
    name: facts.name,
    kind: facts.kind,
    summary: facts.summary,
    url: facts.url,
    ...(domain !== null && { domain }),
    tags: facts.tags,
    categories: facts.categories,
    rails: [...railsOf(facts.pricing)],
    sources: sourceIdsOf(listing),
    has: DISCOVERY_FILES.filter((file) => facts.discovery[file] !== undefined),
    minUsd: lowestPriceOf(facts.pricing),
    maxUsd: highestPriceOf(facts.pricing),
    auth: facts.auth.type,
    runs: runsOf(facts),
    networks: [...networksOf(facts.pricing)],
    isFree: costOf(facts) === 'free',
    call: listing.buy.buy === 'relay_x402',
    added: facts.added,
    reportedCalls: mostReportedCalls(listing.evidence.reported_use),
    trustScore: trustScoreOf(trust),
    vouched: isVouched(trust),
    verifiedBuyers: verifiedBuyersOf(trust),
    liveTested: listing.isLiveTested,
    remote: hasRemoteEndpoint(facts),
    firstParty: facts.first_party,
    body: encoder.encode(JSON.stringify(toPreparedSummary(listing, baseUrl))),
  }
}
