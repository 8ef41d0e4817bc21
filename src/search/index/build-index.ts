import { NO_SEARCH_WORDS, type SearchWords } from '../../domain/derived/tables.ts'
import {
  FIELD_WEIGHTS,
  fieldShare,
  SEARCH_FIELDS,
  type SearchField,
  saturate,
} from '../../domain/search/search-rank.ts'
import {
  chunksOf,
  foldText,
  hasSingleLetter,
  splitChunk,
  stemWord,
  type Word,
} from '../words/split-text.ts'
import { createWordSets, type WordSets } from '../words/word-sets.ts'
import { createColumns, createNumberList, type FilterVocabulary } from './columns.ts'
import { createExactKeys } from './exact-table.ts'
import { type BodyStore, checksum, type IndexNoun, toIndexFile } from './index-file.ts'
import {
  createTermNumbers,
  type ReadDocument,
  type SearchDocument,
  type TermCounts,
  taskTerm,
} from './search-document.ts'
import { buildWordTable, startsOf, type TermIndex, type WordPairs } from './terms.ts'

/** Higher frequencies are stored as this number: a BM25 score barely grows beyond it. */
const MAX_FREQUENCY = 255
const FREQUENCY_BITS = 8
/** Set for a term that only the listing's operations have. */
const MENTIONED = 1 << (SEARCH_FIELDS.length * FREQUENCY_BITS)
/** In how many listings' own texts a word may be for operations' words to count too: others say little about a listing. */
const MOST_OWN = 2
/** Words that a typo can be corrected to: shorter ones have too many neighbours, longer strings are not words. */
const SPELLED = /^[a-z][a-z0-9]{2,23}$/
/**
 * In how many listings of a large index a word must occur before it is suggested. In a small index one
 * listing is enough; in a large index rarer words are noise.
 */
const MOST_NEEDED = 5
const LISTINGS_A_STEP = 2000
/** A name with an account: in `io.github.someone/repo` and `someone/repo`, `someone` is a person. */
const NAMESPACED = /^([\w.-]+)\/([\w.@-]+)$/

/** The content tables with which the index is built. */
export interface IndexOptions extends FilterVocabulary {
  noun: IndexNoun
  words: SearchWords
}

const DEFAULTS: IndexOptions = {
  noun: 'listing',
  categories: [],
  sources: [],
  networks: [],
  tasks: [],
  words: NO_SEARCH_WORDS,
}

const MAX_BODY_BYTES = 2 ** 32 - 1

/**
 * Builds the one file from which the search function serves. The same documents in any order give
 * the same bytes. First-party documents come after the others and are scored with the others'
 * statistics, so that the others' scores do not depend on them.
 * @param options categories and sources that a filter may name although no listing has them yet,
 *   and the table of words
 * @throws Error naming the listing if an id comes twice
 */
export function buildSearchIndex(
  documents: Iterable<SearchDocument>,
  options: Partial<IndexOptions> = {},
): Uint8Array<ArrayBuffer> {
  const builder = createIndexBuilder(options)
  const bodies = Array.from(documents, builder.add)
  const all = joinParts(bodies)
  const read = (at: number, length: number) => all.subarray(at, at + length)
  return joinParts([...builder.finish({ read })])
}

function joinParts(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

/**
 * Like `buildSearchIndex`, for documents that come one by one: each is read at once and not kept.
 * The caller stores its body, which is most of a document.
 */
export function createIndexBuilder(options: Partial<IndexOptions> = {}) {
  const { noun, words: searchWords, ...known } = { ...DEFAULTS, ...options }
  const read = createListingReader(createWordSets(searchWords))
  const collector = createCollector()
  const columns = createColumns()
  const exactKeys = createExactKeys()
  /** The end of each document's body, and the body's checksum. */
  const [bodyEnds, checksums] = [createNumberList(), createNumberList()]
  const bodyEndOf = (document: number) => (document < 0 ? 0 : bodyEnds.get(document))
  return {
    /** @returns the document's body; `finish` reads all bodies back, concatenated in this order */
    add(document: SearchDocument): Uint8Array {
      const body = encoder.encode(document.body)
      const end = bodyEndOf(bodyEnds.length() - 1) + body.length
      if (end > MAX_BODY_BYTES) throw new Error('The listing bodies take more than 4 GiB in total.')
      bodyEnds.push(end)
      checksums.push(checksum([body]))
      const { facts, lengths } = readDocument(document, read, collector)
      if (!exactKeys.add(document))
        throw new Error(`${facts.id} appears twice: every listing needs its own id`)
      columns.add(facts)
      collector.endDocument(lengths, facts.firstParty)
      return body
    },
    /** @returns the parts of the file in order; a part is valid until the next is requested */
    finish(bodies: BodyStore): Iterable<Uint8Array> {
      const { order, organicRows, filters, filterValues, ...rest } = columns.finish(known)
      const lengthOf = (document: number) => bodyEndOf(document) - bodyEndOf(document - 1)
      const index = {
        ...{ noun, filters, filterValues },
        searchWords: JSON.stringify(searchWords),
        spellings: buildSpellings(read.spellings(organicRows)),
        organicRows,
        terms: buildTermIndex(collector.finish(order, organicRows), read),
        exact: exactKeys.finish(order),
        ...rest.columns,
        bodyStarts: startsOf(Uint32Array.from(order, lengthOf)),
        bodyChecksums: Uint32Array.from(order, checksums.get),
      }
      const inOrder = function* () {
        for (const document of order) yield bodies.read(bodyEndOf(document - 1), lengthOf(document))
      }
      return toIndexFile(index, inOrder())
    },
  }
}

const encoder = new TextEncoder()

function buildSpellings(spellings: { text: string; rows: number }[]) {
  spellings.sort((a, b) => (a.text < b.text ? -1 : 1))
  return {
    words: buildWordTable(spellings.map(({ text }) => text)),
    rows: Uint32Array.from(spellings, ({ rows }) => rows),
  }
}

const MAX_PALETTE = 2 ** 16

/**
 * The term index. Pairs that only one organic listing has are left out.
 * @throws Error if the terms have too many different scores to number
 */
function buildTermIndex(
  collected: CollectedPostings,
  { terms, isOnlyInside }: Pick<ListingReader, 'terms' | 'isOnlyInside'>,
): TermIndex {
  const isKept = (pair: number) => collected.organicOf(pair) > 1
  const { words, pairs, numbers } = sortTerms(terms, isKept, isOnlyInside)
  return {
    words: buildWordTable(words),
    pairs,
    ...listPostings(collected, numbers),
  }
}

/**
 * Sorts the terms that are kept: words by their text, pairs first by whichever of their two words
 * sorts first, then by the other word.
 * @returns the sorted terms, and their numbers in `terms`
 */
export function sortTerms(
  terms: TermNumbers,
  isKept: (pair: number) => boolean,
  isLeftOut: (text: string) => boolean = () => false,
) {
  const words = [...terms.words.keys()].filter((text) => !isLeftOut(text)).sort()
  const wordTerms = words.map(terms.ofWord)
  const places = new Map(wordTerms.map((term, place) => [term, place]))
  const placeOf = (term: number) => places.get(term) ?? 0
  /** Each kept pair as one number, made from the positions of its two words. */
  const kept: number[] = []
  for (const [a, others] of terms.pairs)
    for (const [b, pair] of others) {
      if (!isKept(pair)) continue
      const [left, right] = [placeOf(a), placeOf(b)]
      kept.push(Math.min(left, right) * words.length + Math.max(left, right))
    }
  const sorted = Float64Array.from(kept).sort()
  const pairs: WordPairs = {
    starts: new Uint32Array(words.length + 1),
    seconds: Uint32Array.from(sorted, (pair) => pair % words.length),
  }
  const firsts = Uint32Array.from(sorted, (pair) => Math.floor(pair / words.length))
  for (const first of firsts) pairs.starts[first + 1] = (pairs.starts[first + 1] ?? 0) + 1
  pairs.starts.forEach((count, word) => {
    pairs.starts[word] = count + (pairs.starts[word - 1] ?? 0)
  })
  const pairTerms = firsts.map((first, at) =>
    terms.ofPair(wordTerms[first] ?? 0, wordTerms[pairs.seconds[at] ?? 0] ?? 0),
  )
  const numbers = new Uint32Array(words.length + pairTerms.length)
  numbers.set(wordTerms)
  numbers.set(pairTerms, words.length)
  return { words, pairs, numbers }
}

/** The postings for all terms, in term order; each document writes its own postings, row by row. */
function listPostings(
  collected: CollectedPostings,
  terms: Uint32Array,
): Pick<TermIndex, 'postings' | 'scoreTable' | 'scoreTableFields'> {
  const places = createNumberList()
  const starts = new Uint32Array(terms.length + 1)
  const organicEnds = new Uint32Array(terms.length)
  terms.forEach((term, at) => {
    places.set(term, at + 1)
    const start = starts[at] ?? 0
    organicEnds[at] = start + collected.organicOf(term)
    starts[at + 1] = start + collected.documentsOf(term)
  })
  const size = starts[terms.length] ?? 0
  const [rows, codes] = [new Uint32Array(size), new Uint16Array(size)]
  const next = starts.slice()
  const { codeOf, tables } = createScoreTable(collected)
  for (let row = 0; row < collected.rows; row += 1)
    collected.eachOf(row, (term, packed) => {
      const place = places.get(term) - 1
      if (place < 0) return
      const at = next[place] ?? 0
      rows[at] = row
      codes[at] = codeOf(packed, row)
      next[place] = at + 1
    })
  return { postings: { starts, organicEnds, rows, codes }, ...tables() }
}

/**
 * A posting's score before idf depends only on a few small numbers, so many scores are equal: each
 * distinct score is stored once, exactly, and a posting contains its number.
 */
function createScoreTable({ lengths, averageLength }: CollectedPostings) {
  const scoreTable: { score: number; fields: number }[] = []
  /** Known scores, by the fields that contain the term, and then by score. */
  const known = Array.from({ length: 1 << SEARCH_FIELDS.length }, () => new Map<number, number>())
  /** The codes found so far in the current row, by the frequency of a term: most frequencies repeat. */
  const ofRow = { row: -1, codes: new Map<number, number>() }
  const scoreOf = (packed: number, row: number): number => {
    if (packed === MENTIONED) return saturate(FIELD_WEIGHTS.summary)
    let sum = 0
    SEARCH_FIELDS.forEach((field, at) => {
      const frequency = frequencyIn(packed, at)
      if (frequency === 0) return
      const length = lengths[field][row] ?? 0
      sum += fieldShare(field, { frequency, length, averageLength: averageLength[field] })
    })
    return saturate(sum)
  }
  const numberOf = (score: number, fields: number) => {
    const code = known[fields]?.get(score) ?? scoreTable.length
    if (code === scoreTable.length) scoreTable.push({ score, fields })
    known[fields]?.set(score, code)
    return code
  }
  return {
    /** @param packed how often each of the row's fields has the term, see `frequencyIn` */
    codeOf(packed: number, row: number): number {
      if (row !== ofRow.row) ofRow.codes.clear()
      ofRow.row = row
      const code = ofRow.codes.get(packed) ?? numberOf(scoreOf(packed, row), fieldsIn(packed))
      ofRow.codes.set(packed, code)
      return code
    },
    tables() {
      if (scoreTable.length > MAX_PALETTE)
        throw new Error(
          `The search index has ${scoreTable.length} different term scores; it can have at most ${MAX_PALETTE}.`,
        )
      return {
        scoreTable: Float64Array.from(scoreTable, ({ score }) => score),
        scoreTableFields: Uint8Array.from(scoreTable, ({ fields }) => fields),
      }
    },
  }
}

/** The fields that contain a term, as one bit each. */
function fieldsIn(packed: number): number {
  return SEARCH_FIELDS.reduce(
    (bits, _, at) => bits | (Number(frequencyIn(packed, at) > 0) << at),
    0,
  )
}

type CollectedPostings = ReturnType<ReturnType<typeof createCollector>['finish']>

/**
 * Collects postings: which terms each document has, and how often. They are flat numbers because a
 * million listings have some sixty million postings. A document's postings are contiguous, and
 * nothing else about a document is kept.
 */
function createCollector() {
  /** The number of each term's last posting plus one, and how many documents have the term. */
  const [last, organic, firstParty] = [createNumberList(), createNumberList(), createNumberList()]
  /** How many documents have the term in their operations alone. Of first-party ones none is read. */
  const mentioned = createNumberList()
  const isRare = (term: number) => organic.get(term) < MOST_OWN
  /** Each posting's term, and how often the document has it. */
  const [terms, frequencies] = [createNumberList(), createNumberList()]
  /** The end of each document's postings. */
  const ends = createNumberList()
  /** The number of counted terms in each document's fields. */
  const lengths = {
    name: createNumberList(),
    labels: createNumberList(),
    summary: createNumberList(),
  }
  const startOf = (document: number) => (document === 0 ? 0 : ends.get(document - 1))
  return {
    packedOf(term: number): number {
      const posting = last.get(term) - 1
      return posting >= startOf(ends.length()) ? frequencies.get(posting) : 0
    },
    add(term: number, amount: number): void {
      const posting = last.get(term) - 1
      if (posting >= startOf(ends.length())) {
        frequencies.set(posting, frequencies.get(posting) + amount)
        return
      }
      terms.push(term)
      frequencies.push(amount)
      last.set(term, terms.length())
    },
    endDocument(counted: Record<SearchField, number>, isOurs: boolean): void {
      for (const field of SEARCH_FIELDS) lengths[field].push(counted[field])
      for (let posting = startOf(ends.length()); posting < terms.length(); posting += 1) {
        const term = terms.get(posting)
        const isMentioned = frequencies.get(posting) === MENTIONED
        const holders = isMentioned ? mentioned : isOurs ? firstParty : organic
        holders.set(term, holders.get(term) + 1)
      }
      ends.push(terms.length())
    },
    /**
     * @param order the documents' positions among the rows
     * @param organicRows how many rows are not first-party: average lengths are computed from these rows
     */
    finish(order: Uint32Array, organicRows: number) {
      const ofRows = (field: SearchField) => Uint32Array.from(order, lengths[field].get)
      const mean = (all: Uint32Array) =>
        all.subarray(0, organicRows).reduce((sum, length) => sum + length, 0) /
        Math.max(organicRows, 1)
      const [name, labels, summary] = [ofRows('name'), ofRows('labels'), ofRows('summary')]
      const organicOf = (term: number) =>
        organic.get(term) + (isRare(term) ? mentioned.get(term) : 0)
      return {
        rows: order.length,
        averageLength: { name: mean(name), labels: mean(labels), summary: mean(summary) },
        lengths: { name, labels, summary },
        /** How many organic rows have a term. */
        organicOf,
        /** How many rows have a term, first-party rows included. */
        documentsOf: (term: number): number => organicOf(term) + firstParty.get(term),
        /** The terms of a row, and how often it has each, see `frequencyIn`. */
        eachOf(row: number, take: (term: number, packed: number) => void): void {
          const document = order[row] ?? 0
          for (let posting = startOf(document); posting < ends.get(document); posting += 1) {
            const [term, packed] = [terms.get(posting), frequencies.get(posting)]
            if (packed !== MENTIONED || isRare(term)) take(term, packed)
          }
        },
      }
    },
  }
}

/**
 * One field's texts to analyse, and its ready terms, which don't add to its length. Only words that
 * `texts` lack are taken from the texts in `added`.
 */
interface FieldInput {
  texts: readonly string[]
  added?: readonly string[]
  terms?: readonly string[]
}

/** The texts for each field of the text score (contract §12); ids and hosts are in `ExactTable`. */
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
    // A listing is also found by what its operations do; many operations must not dilute its own words.
    labels: { texts: [...tags, ...categories], added: tasks.map(taskName), terms },
    summary: { texts: [summary], terms: ownerTerms(owner) },
  }
}

/** A listing is found, weakly, by its owner's name, but not by the `github` in `io.github.someone`. */
function ownerTerms(owner: string): string[] {
  const folded = foldText(owner)
  const names = new Set([folded, folded.split('.').at(-1) ?? ''])
  return [...names].filter((name) => name !== '')
}

/**
 * @param counts the counter that takes the document's terms
 * @param read the reader that has seen the documents before this one
 */
function readDocument(
  document: SearchDocument,
  read: ListingReader,
  counts: TermCounts,
): ReadDocument {
  const { name, summary, url, domain, tags, texts, operations = [], body, ...facts } = document
  // An operation's document has its listing's members, and is found by its own texts alone.
  const mentions = texts === undefined && !facts.firstParty ? operations : []
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
  for (const text of mentions)
    for (const { counted } of chunksOf(text).map(read.chunk))
      for (const term of counted) if (counts.packedOf(term) === 0) counts.add(term, MENTIONED)
  if (!facts.firstParty) read.countSpellings(chunks)
  return { facts, lengths }
}

/** Counts the words of a text, and neighbouring words as pairs. */
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

/** How often a field contains the term; `field` is its place in `SEARCH_FIELDS`. */
function frequencyIn(packed: number, field: number): number {
  return (packed >>> (field * FREQUENCY_BITS)) & MAX_FREQUENCY
}

/** What a run of characters gives in any document, kept so that its words are looked up once. */
interface ReadChunk {
  /** Terms for the run's words, without stop words, and for their other spellings. */
  counted: readonly number[]
  /** Terms that add to the text's length and form pairs: neither stop words nor generic words. */
  telling: readonly number[]
  /** The words that a typo in a query can be corrected to. */
  spelled: readonly Spelling[]
}

/** A word as it is written, folded, with the number of organic listings that write it in this way. */
interface Spelling {
  text: string
  rows: number
  /** The number of the listing that was counted last. */
  last: number
}

type ListingReader = ReturnType<typeof createListingReader>

/** @returns a reader of listings' texts that remembers their words */
function createListingReader(sets: WordSets) {
  const terms = createTermNumbers()
  const spellings = new Map<string, Spelling>()
  /** Terms for words that are written alone, and common words that are part of another word. */
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
    /** @param chunks the runs in one organic listing's texts */
    countSpellings(chunks: readonly ReadChunk[]): void {
      document += 1
      for (const { spelled } of chunks)
        for (const spelling of spelled) {
          if (spelling.last !== document) spelling.rows += 1
          spelling.last = document
        }
    },
    /** Whether a term is a common word that documents write only inside another word: `cat` in `ConfigCat`. */
    isOnlyInside: (text: string): boolean =>
      inside.has(text) && alone.get(terms.ofWord(text)) === 0,
    /** @param rows the number of organic listings */
    spellings(rows: number): Spelling[] {
      const needed = Math.min(MOST_NEEDED, 1 + Math.floor(rows / LISTINGS_A_STEP))
      return [...spellings.values()].filter(({ rows }) => rows >= needed)
    },
  }
}

/** The words that are counted, each once. A word in CamelCase is counted as the single word that it is written as. */
function plainParts(word: Word): readonly string[] {
  const isOne = word.style === 'plain' || word.style === 'camel'
  return isOne || (word.style === 'hyphen' && hasSingleLetter(word)) ? [word.whole] : word.parts
}

/** Other spellings that find a word: the parts of CamelCase, and three or more hyphenated parts as one word. */
function otherSpellings({ style, parts, whole }: Word, { stop }: WordSets): string[] {
  if (style === 'camel') return parts.filter((part) => part.length > 1 && !stop.has(part))
  return style === 'hyphen' && parts.length > 2 ? [whole] : []
}

type TermNumbers = ReturnType<typeof createTermNumbers>
