import { SEARCH_FIELDS, type SearchField } from '../../domain/search/search-rank.ts'
import type {
  AUTH_TYPES,
  DISCOVERY_FILES,
  Effect,
  Kind,
  Rail,
  Runs,
} from '../../domain/wire/vocabulary.ts'
import {
  chunksOf,
  foldText,
  hasSingleLetter,
  splitChunk,
  stemWord,
  type Word,
} from '../words/split-text.ts'
import type { WordSets } from '../words/word-sets.ts'
import { exactKeysOf } from './exact-table.ts'

/**
 * The build's input to the search index, one for each listing.
 *
 * `body` is the UTF-8 JSON of the listing summary as the interface specification describes it,
 * written once at build time (`toBody`) so that a response only copies bytes. Two members differ in
 * every response and are added then: `relevance`, and `go` inside `links`. For that to be a plain
 * append, `links` is the **last** member of the object and is not empty. `id`, `name`, `kind`,
 * `summary` and `status` are the **first**: `{"id":"…","name":"…","kind":"…","summary":"…",
 * "status":"…",…,"links":{"listing":"…",…}}`, so that a compact row is the start of it. Key order
 * means nothing in JSON, so readers see the specified object.
 */
export interface SearchDocument {
  id: string
  name: string
  kind: Kind
  summary: string
  url: string
  /** The registered domain it is at; absent where strangers share the host. */
  domain?: string | undefined
  tags: string[]
  categories: string[]
  rails: Rail[]
  sources: string[]
  has: (typeof DISCOVERY_FILES)[number][]
  /** Lowest listed price in USD, 0 where it is declared free; null where it is unknown. */
  minUsd: number | null
  maxUsd: number | null
  auth: (typeof AUTH_TYPES)[number]
  runs: Runs[]
  /** Networks it takes payment on, as CAIP-2 ids. */
  networks: string[]
  /** Ids of the tasks it does. */
  tasks?: string[] | undefined
  /** For an operation: its offers, each judged separately; a listing is judged as a whole. */
  offers?: { rail: Rail; network?: string | undefined; minUsd: number }[] | undefined
  /** Of an operation. */
  effect?: Effect | undefined
  /** Whether the relay calls it. */
  call: boolean
  /** The day it was added, `YYYY-MM-DD`; null where it is unknown. */
  added: string | null
  /** Calls in 30 days, as others count them; absent where nobody does. For sorting, not ranking. */
  reportedCalls?: number | undefined
  /** The most settlements that anybody counts, as above. */
  settlements?: number | undefined
  /** The newest days of a good answer and of a counted payment, `YYYY-MM-DD`. */
  answered?: string | null | undefined
  lastPaid?: string | null | undefined
  /** Whether anybody paid, in a few words. */
  paid?: string | undefined
  /** 0 to 100; null without payment evidence. */
  trustScore: number | null
  /** Whether its score rests on buyers that an independent seller vouches for. */
  vouched?: boolean | undefined
  /** Independent paying buyers in 30 days; 0 where nothing is known. */
  verifiedBuyers: number
  liveTested: boolean
  /** Can be called over the network: every `http_api` and `a2a_agent`, an `mcp_server` with a remote. */
  remote: boolean
  firstParty: boolean
  body: Uint8Array
  /**
   * Of an operation the texts of each field; a listing's are its name, labels and summary. An
   * operation's id is its listing's, `~` and a number, and its body is any object whose first member
   * is `id` and whose last is an object.
   */
  texts?: Record<SearchField, string[]> | undefined
}

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
const encoder = new TextEncoder()

type FirstMembers = Record<'id' | 'name' | 'kind' | 'summary' | 'status', string>

/** A listing's body: in this order, whatever the order of the summary's members. */
export function toBody(view: FirstMembers & { links: object }): Uint8Array {
  const { id, name, kind, summary, status, links, ...others } = view
  return encoder.encode(JSON.stringify({ id, name, kind, summary, status, ...others, links }))
}

/**
 * Texts to analyse and ready terms of one field; the terms don't count into its length. Of `added`
 * texts only words that the others lack are taken.
 */
interface FieldInput {
  texts: readonly string[]
  added?: readonly string[]
  terms?: readonly string[]
}

/** `io.github.someone/repo` and `someone/repo`: the part before the slash is a person. */
const NAMESPACED = /^([\w.-]+)\/([\w.@-]+)$/

/** Texts of each field of the text score (contract §12); ids and hosts are in `ExactTable`. */
function documentFields(
  { name, summary, tags, categories, tasks = [], texts }: SearchDocument,
  { taskName }: WordSets,
): Record<SearchField, FieldInput> {
  const terms = tasks.map(taskTerm)
  if (texts !== undefined)
    return {
      name: { texts: texts.name },
      labels: { texts: texts.labels, terms },
      summary: { texts: texts.summary },
    }
  const [, owner = '', repository = name] = NAMESPACED.exec(name) ?? []
  return {
    name: { texts: [repository] },
    // A listing is found by what its operations do, too; who does much is no less about its own words.
    labels: { texts: [...tags, ...categories], added: tasks.map(taskName), terms },
    summary: { texts: [summary], terms: ownerTerms(owner) },
  }
}

/** A task as a term, which no text has. */
export function taskTerm(id: string): string {
  return `:${id}`
}

/** An owner finds its listings, weakly: `github` in `io.github.someone` must not. */
function ownerTerms(owner: string): string[] {
  const folded = foldText(owner)
  const names = new Set([folded, folded.split('.').at(-1) ?? ''])
  return [...names].filter((name) => name !== '')
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

/** @param terms of the index: new ones are numbered */
export function readDocument(
  document: SearchDocument,
  read: ReturnType<typeof createListingReader>,
  sets: WordSets,
  terms: TermNumbers,
): ReadDocument {
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
    const hasWord = (term: string) => frequencyIn(frequencies.get(terms.ofWord(term)) ?? 0, at) > 0
    const readText = (text: string, isAdded: boolean) => {
      const { words, others } = read(text)
      const kept = [...others, ...words.flatMap(({ term, isStop }) => (isStop ? [] : term))]
      for (const term of kept) if (!isAdded || !hasWord(term)) count(terms.ofWord(term))
      for (const { text, isSpelled } of words) if (isSpelled) written.add(text)
      const telling = words.filter((word) => word.tells)
      if (!isAdded) lengths[field] += telling.length
      telling.forEach(({ term }, place) => {
        const before = telling[place - 1]?.term ?? term
        if (before !== term) count(terms.ofPair(terms.ofWord(before), terms.ofWord(term)))
      })
    }
    const { texts, added = [], terms: ready = [] } = fields[field]
    for (const text of texts) readText(text, false)
    for (const text of added) readText(text, true)
    for (const term of ready) count(terms.ofWord(term))
  }
  const exact = exactKeysOf({ id: facts.id, url, name, domain })
  return { facts, exact, lengths, frequencies, written, body }
}

/** How often a field holds the term, the field by its place in `SEARCH_FIELDS`. */
export function frequencyIn(packed: number, field: number): number {
  return (packed >>> (field * FREQUENCY_BITS)) & MAX_FREQUENCY
}

/** A word of the listings: its facts are looked up once. */
interface ListingWord {
  /** As written, folded. */
  text: string
  term: string
  isStop: boolean
  /** Counts into its text's length and forms pairs; stop words and generic words do neither. */
  tells: boolean
  /** Whether a query may be meant to have it. */
  isSpelled: boolean
}

/** The words of a text or of a run of characters in it, and terms that are other spellings of them. */
interface ReadText {
  words: readonly ListingWord[]
  others: readonly string[]
}

/** Words as they are written, with the number of organic listings that write them so. */
interface Spelling {
  text: string
  rows: number
}

/** Shorter words have too many neighbours one edit away, longer ones are not words. */
const SPELLED = /^[a-z][a-z0-9]{2,23}$/
/** Listings that must write a word: one is enough in a small index, but noise in a large one. */
const MOST_NEEDED = 5
const LISTINGS_A_STEP = 2000

/** @returns a reader of listings' texts that remembers their words */
export function createListingReader(sets: WordSets) {
  const words = new Map<string, ListingWord>()
  const chunks = new Map<string, ReadText>()
  const wordOf = (text: string): ListingWord => {
    const known = words.get(text)
    if (known !== undefined) return known
    const isStop = sets.stop.has(text)
    const tells = !isStop && !sets.generic.has(text)
    const word = { text, term: stemWord(text), isStop, tells, isSpelled: SPELLED.test(text) }
    words.set(text, word)
    return word
  }
  const readChunk = (chunk: string): ReadText => {
    const known = chunks.get(chunk)
    if (known !== undefined) return known
    const split = splitChunk(chunk)
    const read = {
      words: split.flatMap(plainParts).map(wordOf),
      others: split.flatMap((word) => otherSpellings(word, sets)),
    }
    chunks.set(chunk, read)
    return read
  }
  return (text: string): ReadText => {
    const read = chunksOf(text).map(readChunk)
    return {
      words: read.flatMap(({ words }) => words),
      others: read.flatMap(({ others }) => others),
    }
  }
}

/** @param written how many listings write each word @param rows how many listings there are */
export function toSpellings(written: ReadonlyMap<string, number>, rows: number): Spelling[] {
  const needed = Math.min(MOST_NEEDED, 1 + Math.floor(rows / LISTINGS_A_STEP))
  const spellings = [...written].map(([text, rows]) => ({ text, rows }))
  return spellings.filter(({ rows }) => rows >= needed)
}

/** Words that count: each once. CamelCase counts as the one word it is written as. */
function plainParts(word: Word): readonly string[] {
  const isOne = word.style === 'plain' || word.style === 'camel'
  return isOne || (word.style === 'hyphen' && hasSingleLetter(word)) ? [word.whole] : word.parts
}

/** CamelCase is also found by its parts, and with more than two also as a whole, in order. */
function otherSpellings({ style, parts, whole }: Word, { stop }: WordSets): string[] {
  if (style === 'camel')
    return parts.filter((part) => part.length > 1 && !stop.has(part)).map(stemWord)
  return style === 'hyphen' && parts.length > 2 ? [stemWord(whole)] : []
}

export type TermNumbers = ReturnType<typeof createTermNumbers>

/**
 * The terms of an index as numbers, counted from 0 in the order they come: words, and pairs of two
 * words' terms in either order. One map per term for its pairs: a single `Map` ends at 2^24
 * entries, and the neighbours in the texts of a million listings are about as many.
 */
export function createTermNumbers() {
  const words = new Map<string, number>()
  const pairs = new Map<number, Map<number, number>>()
  let size = 0
  const take = <Key>(numbers: Map<Key, number>, key: Key) => {
    const known = numbers.get(key)
    if (known !== undefined) return known
    numbers.set(key, size)
    size += 1
    return size - 1
  }
  return {
    /** By text. */
    words: words as ReadonlyMap<string, number>,
    /** By the lower term and then the higher one. */
    pairs: pairs as ReadonlyMap<number, ReadonlyMap<number, number>>,
    /** The number of a word's term; a new one for a term not seen before. */
    ofWord: (text: string): number => take(words, text),
    ofPair(a: number, b: number): number {
      const lower = Math.min(a, b)
      const others = pairs.get(lower) ?? new Map<number, number>()
      if (others.size === 0) pairs.set(lower, others)
      return take(others, Math.max(a, b))
    },
  }
}
