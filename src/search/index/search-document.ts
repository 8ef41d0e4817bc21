import type { SearchField } from '../../domain/search/search-rank.ts'
import type {
  AUTH_TYPES,
  DISCOVERY_FILES,
  Effect,
  Kind,
  Rail,
  Runs,
  Warning,
} from '../../domain/wire/vocabulary.ts'

/**
 * The search index's input from the build: one document for each listing.
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
  /** The registered domain of the listing's address; absent if strangers share the host. */
  domain?: string | undefined
  tags: string[]
  categories: string[]
  rails: Rail[]
  sources: string[]
  has: (typeof DISCOVERY_FILES)[number][]
  /** Lowest listed price in USD: 0 if declared free, null if unknown. */
  minUsd: number | null
  maxUsd: number | null
  auth: (typeof AUTH_TYPES)[number]
  runs: Runs[]
  /** Networks on which the listing takes payment, as CAIP-2 ids. */
  networks: string[]
  /** Ids of the tasks that the listing does. */
  tasks?: string[] | undefined
  /** Names and descriptions of the listing's operations, whose rare words also find it. */
  operations?: string[] | undefined
  /** An operation's offers, each judged separately; a listing is judged as a whole. */
  offers?: { rail: Rail; network?: string | undefined; minUsd: number }[] | undefined
  /** An operation's effect. */
  effect?: Effect | undefined
  /** Whether the relay can call the listing. */
  call: boolean
  /** The day on which the listing was added, `YYYY-MM-DD`; null if unknown. */
  added: string | null
  /** Calls in 30 days, as a third party counts them; absent if nobody does. For sorting, not for ranking. */
  reportedCalls?: number | undefined
  /** The highest count of settlements by any source; also for sorting only. */
  settlements?: number | undefined
  /** The latest days with a good answer and with a counted payment, `YYYY-MM-DD`. */
  answered?: string | null | undefined
  lastPaid?: string | null | undefined
  /** Whether anybody paid, in a few words. */
  paid?: string | undefined
  /** 0 to 100; null without payment evidence. */
  trustScore: number | null
  /** Whether the score rests on buyers whom an independent seller vouches for. */
  vouched?: boolean | undefined
  /** What must be shown next to the listing. */
  warning?: Warning | undefined
  /** Independent paying buyers in 30 days; 0 if none is known. */
  verifiedBuyers: number
  liveTested: boolean
  /** Whether the listing can be called over the network: every `http_api` and `a2a_agent`, an `mcp_server` with a remote. */
  remote: boolean
  firstParty: boolean
  body: string
  /**
   * An operation's texts for each field; a listing's texts are its name, labels and summary. An
   * operation's id is its listing's id, `~` and a number; its body is any object whose first member
   * is `id` and whose last member is an object.
   */
  texts?: Record<SearchField, string[]> | undefined
}

/** The members in which an operation's document differs from its listing's. */
export type OperationPart = Partial<SearchDocument> & Pick<SearchDocument, 'body'>

/** How every body starts; the id follows, up to the next quotation mark. */
export const BODY_START = '{"id":"'
/** The text after `summary`, the last member that a compact row takes unchanged. */
export const SUMMARY_END = ',"status":"'

type FirstMembers = Record<'id' | 'name' | 'kind' | 'summary' | 'status', string>

/** A listing's body: its members in this order, whatever their order in `view`. */
export function toBody(view: FirstMembers & { links: object }): string {
  const { id, name, kind, summary, status, links, ...others } = view
  return JSON.stringify({ id, name, kind, summary, status, ...others, links })
}

/** A task written as a term; no text can contain this term. */
export function taskTerm(id: string): string {
  return `:${id}`
}

type Texts = 'name' | 'summary' | 'url' | 'domain' | 'tags' | 'texts' | 'operations' | 'body'

/** What an index keeps of a document in addition to its terms. */
export interface ReadDocument {
  /** The values by which the document is filtered and sorted. */
  facts: Omit<SearchDocument, Texts>
  /** The number of counted terms in each field. */
  lengths: Record<SearchField, number>
}

/** Counts the terms of one document after another. Fields are packed by their position in `SEARCH_FIELDS`. */
export interface TermCounts {
  /** How often the document has had the term so far, see `frequencyIn`. */
  packedOf(term: number): number
  /** @param amount 1 in the bits of a field, see `frequencyIn` */
  add(term: number, amount: number): void
}

/**
 * An index's terms as numbers, counted from 0 in order of first use: words, and pairs of two words'
 * terms in either order. Each term has its own map for its pairs: a `Map` holds at most 2^24
 * entries, and a million listings have about as many pairs of neighbours.
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
    /** Pairs by their lower term, then by their higher term. */
    pairs: pairs as ReadonlyMap<number, ReadonlyMap<number, number>>,
    /** The number for a word's term; a new number for a new term. */
    ofWord: (text: string): number => take(words, text),
    ofPair(a: number, b: number): number {
      const lower = Math.min(a, b)
      const others = pairs.get(lower) ?? new Map<number, number>()
      if (others.size === 0) pairs.set(lower, others)
      return take(others, Math.max(a, b))
    },
  }
}
