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
import { createNumberList } from './number-list.ts'

/**
 * The build's input to the search index, one for each listing.
 *
 * `body` is the JSON of the listing summary as the interface specification describes it,
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
  body: string
  /**
   * Of an operation the texts of each field; a listing's are its name, labels and summary. An
   * operation's id is its listing's, `~` and a number, and its body is any object whose first member
   * is `id` and whose last is an object.
   */
  texts?: Record<SearchField, string[]> | undefined
}

/** What the document of an operation has of its own: the rest is its listing's. */
export type OperationPart = Partial<SearchDocument> & Pick<SearchDocument, 'body'>

/** How every body starts; the id follows, up to the next quotation mark. */
export const BODY_START = '{"id":"'
/** What follows `summary`, the last of the members that a compact row takes as they are. */
export const SUMMARY_END = ',"status":"'

type FirstMembers = Record<'id' | 'name' | 'kind' | 'summary' | 'status', string>

/** A listing's body: in this order, whatever the order of the summary's members. */
export function toBody(view: FirstMembers & { links: object }): string {
  const { id, name, kind, summary, status, links, ...others } = view
  return JSON.stringify({ id, name, kind, summary, status, ...others, links })
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

/** What an index takes of a document beside its terms. */
export interface ReadDocument {
  /** Values it is filtered and sorted by. */
  facts: Omit<SearchDocument, Texts>
  /** Counted terms of each field. */
  lengths: Record<SearchField, number>
}

/** Counts the terms of one document after another. A field is given by its place in `SEARCH_FIELDS`. */
export interface TermCounts {
  /** How often the document has the term so far, see `frequencyIn`. */
  packedOf(term: number): number
  /** @param amount one in the bits of a field, see `frequencyIn` */
  add(term: number, amount: number): void
}

/** A frequency above this is cut: BM25 is flat by then. */
const MAX_FREQUENCY = 255
const FREQUENCY_BITS = 8

/** @param counts takes the document's terms @param read has seen the documents before it */
export function readDocument(
  document: SearchDocument,
  read: ListingReader,
  counts: TermCounts,
): ReadDocument {
  const { name, summary, url, domain, tags, texts: _, body, ...facts } = document
  const lengths = { name: 0, labels: 0, summary: 0 }
  const fields = documentFields(document, read.sets)
  const chunks = SEARCH_FIELDS.flatMap((field, at) => {
    const timesOf = (term: number) => frequencyIn(counts.packedOf(term), at)
    const count = (term: number) => {
      if (timesOf(term) < MAX_FREQUENCY) counts.add(term, 1 << (at * FREQUENCY_BITS))
    }
    const countMissing = (term: number) => {
      if (timesOf(term) === 0) count(term)
    }
    const { texts, added = [], terms = [] } = fields[field]
    const own = texts.flatMap((text) => countText(read, text, count, count))
    for (const { telling } of own) lengths[field] += telling.length
    const others = added.flatMap((text) => countText(read, text, countMissing, count))
    for (const term of terms) count(read.terms.ofWord(term))
    return [...own, ...others]
  })
  if (!facts.firstParty) read.countSpellings(chunks)
  return { facts, lengths }
}

/** Counts the words of a text, and those that follow each other as pairs. */
function countText(
  read: ListingReader,
  text: string,
  countWord: (term: number) => void,
  countPair: (term: number) => void,
): ReadChunk[] {
  const chunks = chunksOf(text).map(read.chunk)
  for (const { counted } of chunks) counted.forEach(countWord)
  let before: number | undefined
  for (const { telling } of chunks)
    for (const term of telling) {
      if (before !== undefined && before !== term) countPair(read.terms.ofPair(before, term))
      before = term
    }
  return chunks
}

/** How often a field holds the term, the field by its place in `SEARCH_FIELDS`. */
export function frequencyIn(packed: number, field: number): number {
  return (packed >>> (field * FREQUENCY_BITS)) & MAX_FREQUENCY
}

/** What a run of characters in a text gives, whatever the document: its words are looked up once. */
interface ReadChunk {
  /** Terms of its words but the stop words, and of other spellings of them. */
  counted: readonly number[]
  /** Terms that count into its text's length and form pairs: neither stop words nor generic ones. */
  telling: readonly number[]
  /** The words that a query may be meant to have. */
  spelled: readonly Spelling[]
}

/** A word as it is written, folded, with the number of organic listings that write it so. */
interface Spelling {
  text: string
  rows: number
  /** The listing that was counted last, by its number. */
  last: number
}

/** Shorter words have too many neighbours one edit away, longer ones are not words. */
const SPELLED = /^[a-z][a-z0-9]{2,23}$/
/** Listings that must write a word: one is enough in a small index, but noise in a large one. */
const MOST_NEEDED = 5
const LISTINGS_A_STEP = 2000

export type ListingReader = ReturnType<typeof createListingReader>

/** @returns a reader of listings' texts that remembers their words */
export function createListingReader(sets: WordSets) {
  const terms = createTermNumbers()
  const spellings = new Map<string, Spelling>()
  /** Terms of words that stand on their own, and common words inside another. */
  const [alone, inside] = [createNumberList(), new Set<string>()]
  const chunks = new Map<string, ReadChunk>()
  let document = 0
  const spellingOf = (text: string) => {
    const spelling = spellings.get(text) ?? { text, rows: 0, last: 0 }
    spellings.set(text, spelling)
    return spelling
  }
  const readChunk = (chunk: string): ReadChunk => {
    const split = splitChunk(chunk)
    const words = split.flatMap(plainParts)
    const kept = words.filter((word) => !sets.stop.has(word))
    const others = split.flatMap((word) => otherSpellings(word, sets))
    const termOf = (word: string) => terms.ofWord(stemWord(word))
    const own = kept.map(termOf)
    for (const term of own) alone.set(term, 1)
    for (const text of others) if (sets.isEveryday(text)) inside.add(stemWord(text))
    return {
      counted: [...others.map(termOf), ...own],
      telling: kept.filter((word) => !sets.generic.has(word)).map(termOf),
      spelled: words.filter((word) => SPELLED.test(word)).map(spellingOf),
    }
  }
  return {
    sets,
    terms,
    chunk(chunk: string): ReadChunk {
      const known = chunks.get(chunk) ?? readChunk(chunk)
      chunks.set(chunk, known)
      return known
    },
    /** @param chunks of one organic listing */
    countSpellings(chunks: readonly ReadChunk[]): void {
      document += 1
      for (const { spelled } of chunks)
        for (const spelling of spelled) {
          if (spelling.last !== document) spelling.rows += 1
          spelling.last = document
        }
    },
    /** Whether a term is a common word that no document writes but inside another: `cat` of `ConfigCat`. */
    isOnlyInside: (text: string): boolean =>
      inside.has(text) && alone.get(terms.ofWord(text)) === 0,
    /** @param rows how many organic listings there are */
    spellings(rows: number): Spelling[] {
      const needed = Math.min(MOST_NEEDED, 1 + Math.floor(rows / LISTINGS_A_STEP))
      return [...spellings.values()].filter(({ rows }) => rows >= needed)
    },
  }
}

/** Words that count: each once. CamelCase counts as the one word it is written as. */
function plainParts(word: Word): readonly string[] {
  const isOne = word.style === 'plain' || word.style === 'camel'
  return isOne || (word.style === 'hyphen' && hasSingleLetter(word)) ? [word.whole] : word.parts
}

/** CamelCase is also found by its parts, and with more than two also as a whole, in order. */
function otherSpellings({ style, parts, whole }: Word, { stop }: WordSets): string[] {
  if (style === 'camel') return parts.filter((part) => part.length > 1 && !stop.has(part))
  return style === 'hyphen' && parts.length > 2 ? [whole] : []
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
