import * as v from 'valibot'
import { isListingId } from '../../domain/listing/listing-text.ts'
import { SEARCH_FIELDS, type SearchField } from '../../domain/search/search-rank.ts'
import {
  AUTH_TYPES,
  DISCOVERY_FILES,
  EFFECTS,
  KINDS,
  RAILS,
  RUNS,
} from '../../domain/wire/vocabulary.ts'
import type { createListingReader, TermNumbers } from '../words/read-listings.ts'
import { foldText } from '../words/split-text.ts'
import type { WordSets } from '../words/word-sets.ts'
import { exactKeysOf } from './exact-table.ts'

/**
 * The build's input to the search index, one for each listing.
 *
 * `body` is the UTF-8 JSON of the listing summary as the interface specification describes it,
 * written once at build time so that a response only copies bytes. Two members differ in every
 * response and are added then, so the builder leaves both out: `relevance`, and `go` inside
 * `links`. For that to be a plain append, `links` is the **last** member of the object and is not
 * empty. `id`, `name`, `kind`, `summary` and `status` are the **first**, written without spaces:
 * `{"id":"…","name":"…","kind":"…","summary":"…","status":"…",…,"links":{"listing":"…",…}}`, so that
 * a compact row is the start of it. `buildSearchIndex` refuses anything else. Key order means nothing in JSON, so readers see the specified object.
 */
const SearchDocumentSchema = v.object({
  id: v.string(),
  name: v.string(),
  kind: v.picklist(KINDS),
  summary: v.string(),
  url: v.string(),
  /** The registered domain it is at; absent where strangers share the host. */
  domain: v.optional(v.string()),
  tags: v.array(v.string()),
  categories: v.array(v.string()),
  rails: v.array(v.picklist(RAILS)),
  sources: v.array(v.string()),
  has: v.array(v.picklist(DISCOVERY_FILES)),
  /** Lowest listed price in USD, 0 where it is declared free; null where it is unknown. */
  minUsd: v.nullable(v.number()),
  maxUsd: v.nullable(v.number()),
  auth: v.picklist(AUTH_TYPES),
  runs: v.array(v.picklist(RUNS)),
  /** Networks it takes payment on, as CAIP-2 ids. */
  networks: v.array(v.string()),
  /** Ids of the tasks it does. */
  tasks: v.optional(v.array(v.string())),
  /** For an operation: its offers, each judged separately; a listing is judged as a whole. */
  offers: v.optional(
    v.array(
      v.object({
        rail: v.picklist(RAILS),
        network: v.optional(v.string()),
        minUsd: v.number(),
      }),
    ),
  ),
  /** Of an operation. */
  effect: v.optional(v.picklist(EFFECTS)),
  /** Whether the relay calls it. */
  call: v.boolean(),
  /** The day it was added, `YYYY-MM-DD`; null where it is unknown. */
  added: v.nullable(v.string()),
  /** Calls in 30 days, as others count them; absent where nobody does. For sorting, not ranking. */
  reportedCalls: v.optional(v.number()),
  /** The most settlements that anybody counts, as above. */
  settlements: v.optional(v.number()),
  /** The newest days of a good answer and of a counted payment, `YYYY-MM-DD`. */
  answered: v.optional(v.nullable(v.string())),
  lastPaid: v.optional(v.nullable(v.string())),
  /** Whether anybody paid, in a few words. */
  paid: v.optional(v.string()),
  /** 0 to 100; null without payment evidence. */
  trustScore: v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100))),
  /** Whether its score rests on buyers that an independent seller vouches for. */
  vouched: v.optional(v.boolean()),
  /** Independent paying buyers in 30 days; 0 where nothing is known. */
  verifiedBuyers: v.pipe(v.number(), v.integer(), v.minValue(0)),
  liveTested: v.boolean(),
  /** Can be called over the network: every `http_api` and `a2a_agent`, an `mcp_server` with a remote. */
  remote: v.boolean(),
  firstParty: v.boolean(),
  body: v.instance(Uint8Array),
  /**
   * Of an operation the texts of each field; a listing's are its name, labels and summary. An
   * operation's id is its listing's, `~` and a number, and its body is any object whose first member
   * is `id` and whose last is an object.
   */
  texts: v.optional(
    v.object({
      name: v.array(v.string()),
      labels: v.array(v.string()),
      summary: v.array(v.string()),
    }),
  ),
})

export type SearchDocument = v.InferOutput<typeof SearchDocumentSchema>

/** What the document of an operation has of its own: the rest is its listing's. */
export type OperationPart = Omit<Partial<SearchDocument>, 'body'> & { body: string }

export function toOperationDocument(
  listing: SearchDocument,
  { body, ...own }: OperationPart,
): SearchDocument {
  return { ...listing, ...own, body: encoder.encode(body) }
}

/** How every body starts; the id follows, up to the next quotation mark. */
export const BODY_START = '{"id":"'
/** What follows `summary`, the last of the members that a compact row takes as they are. */
export const SUMMARY_END = ',"status":"'
/** Inside a string of JSON a quotation mark has a backslash before it. */
const STARTS =
  /^\{"id":"[^"]*","name":"(?:[^"\\]|\\.)*","kind":"\w+","summary":"(?:[^"\\]|\\.)*","status":"/
const LINKS_START = ',"links":'
const [encoder, decoder] = [new TextEncoder(), new TextDecoder()]

/** @throws Error naming the listing when its body cannot be completed */
function checkDocument({ id, body, texts }: SearchDocument): void {
  if (texts === undefined && !isListingId(id))
    throw new Error(`${id}: expected a listing id such as x402.example`)
  const text = decoder.decode(body)
  const isStarted = text.startsWith(`${BODY_START}${id}"`)
  if (texts !== undefined && isStarted && text.endsWith('}}')) return
  if (isStarted && STARTS.test(text) && endsWithLinks(text)) return
  throw new Error(
    `${id}: the body's first members must be id, name, kind, summary and status, and its last a filled \`links\` object, so that a response can complete it; got the members ${Object.keys(JSON.parse(text)).join(', ')}`,
  )
}

/**
 * Parsing a million bodies takes longer than indexing their words, and they were written by
 * `JSON.stringify`: only the end is parsed. A quotation mark inside a string is escaped, so what
 * is found here is a member, and what follows an object that is closed right before the body is.
 */
function endsWithLinks(text: string): boolean {
  const start = text.lastIndexOf(LINKS_START)
  if (start < 0 || !text.endsWith('"}}')) return false
  try {
    const links: unknown = JSON.parse(text.slice(start + LINKS_START.length, -1))
    return typeof links === 'object'
  } catch {
    return false
  }
}

/**
 * Texts to analyse and ready terms of one field; the terms don't count into its length. Of `added`
 * texts only words that the others lack are taken.
 */
interface FieldInput {
  texts: readonly string[]
  added?: readonly string[]
  terms: readonly string[]
}

/** `io.github.someone/repo` and `someone/repo`: the part before the slash is a person. */
const NAMESPACED = /^([\w.-]+)\/([\w.@-]+)$/

/** Texts of each field of the text score (contract §12); ids and hosts are in `ExactTable`. */
function documentFields(
  document: SearchDocument,
  { taskName }: WordSets,
): Record<SearchField, FieldInput> {
  if (document.texts !== undefined) {
    const { name, labels, summary } = document.texts
    const plain = (texts: readonly string[]) => ({ texts, terms: [] })
    return {
      name: plain(name),
      labels: { ...plain(labels), terms: taskTerms(document) },
      summary: plain(summary),
    }
  }
  // A listing is found by what its operations do, too; who does much is no less about its own words.
  const done = (document.tasks ?? []).map(taskName)
  const [, owner, repository] = NAMESPACED.exec(document.name) ?? []
  return {
    name: {
      texts: [repository ?? document.name],
      terms: [],
    },
    labels: {
      texts: [...document.tags, ...document.categories],
      added: done,
      terms: taskTerms(document),
    },
    summary: { texts: [document.summary], terms: owner ? ownerTerms(owner) : [] },
  }
}

/** A task as a term, which no text has. */
export function taskTerm(id: string): string {
  return `:${id}`
}

const taskTerms = ({ tasks = [] }: SearchDocument) => tasks.map(taskTerm)

/** An owner finds its listings, weakly: `github` in `io.github.someone` must not. */
function ownerTerms(owner: string): string[] {
  const folded = foldText(owner)
  const person = folded.split('.').at(-1) ?? folded
  return person === folded || person === '' ? [folded] : [folded, person]
}

type Texts = 'name' | 'summary' | 'url' | 'domain' | 'tags' | 'texts' | 'body'

/** What an index takes of a document. */
export interface ReadDocument {
  /** Values it is filtered and sorted by. */
  facts: Omit<SearchDocument, Texts>
  /** Its exact keys, see `ExactTable`. */
  exact: string[]
  /** Counted terms of each field. */
  lengths: Record<SearchField, number>
  /** How often each field has a term, `FREQUENCY_BITS` for each, by the term's number. */
  frequencies: ReadonlyMap<number, number>
  /** Words as they are written, for spellings. */
  written: ReadonlySet<string>
  body: Uint8Array
}

/** A frequency above this is cut: BM25 is flat by then. */
const MAX_FREQUENCY = 255
const FREQUENCY_BITS = 8

/**
 * @param terms of the index: new ones are numbered
 * @throws Error naming the listing when its body cannot be completed
 */
export function readDocument(
  document: SearchDocument,
  read: ReturnType<typeof createListingReader>,
  sets: WordSets,
  terms: TermNumbers,
): ReadDocument {
  checkDocument(document)
  const { name, summary: _, url, domain, tags: __, texts: ___, body, ...facts } = document
  const frequencies = new Map<number, number>()
  const written = new Set<string>()
  const lengths: Record<SearchField, number> = { name: 0, labels: 0, summary: 0 }
  const fields = documentFields(document, sets)
  for (const [at, field] of SEARCH_FIELDS.entries()) {
    const count = (term: number) => {
      const packed = frequencies.get(term) ?? 0
      if (frequencyIn(packed, at) < MAX_FREQUENCY)
        frequencies.set(term, packed + (1 << (at * FREQUENCY_BITS)))
    }
    const tell = {
      word(term: string, counted: boolean) {
        if (counted) lengths[field] += 1
        count(terms.ofWord(term))
      },
      pair: (before: string, term: string) =>
        count(terms.ofPair(terms.ofWord(before), terms.ofWord(term))),
      written: (text: string) => written.add(text),
    }
    for (const text of fields[field].texts) read(text, field === 'name', tell)
    const hasWord = (term: string) => frequencyIn(frequencies.get(terms.ofWord(term)) ?? 0, at) > 0
    const add = {
      ...tell,
      word: (term: string) => hasWord(term) || tell.word(term, false),
    }
    for (const text of fields[field].added ?? []) read(text, false, add)
    for (const term of fields[field].terms) tell.word(term, false)
  }
  const exact = exactKeysOf({ id: facts.id, url, name, domain })
  return { facts, exact, lengths, frequencies, written, body }
}

/** How often a field holds the term, the field by its place in `SEARCH_FIELDS`. */
export function frequencyIn(packed: number, field: number): number {
  return (packed >>> (field * FREQUENCY_BITS)) & MAX_FREQUENCY
}
