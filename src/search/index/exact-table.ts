import { foldText } from '../words/split-text.ts'
import { createNumberList } from './columns.ts'
import { buildWordTable, findWord, startsOf, type WordTable } from './terms.ts'

/**
 * Rows by keys that a query may equal: a listing's id, its host, its full name, its vendor's name,
 * or its product's name. The keys are sorted, and so are the rows for each key.
 */
export interface ExactTable {
  keys: WordTable
  /** Where the rows for each key start; one more than there are keys. */
  starts: Uint32Array
  rows: Uint32Array
}

/**
 * Kinds of keys, in the order in which they put a listing first. `vendor` is who runs the listing's address, see
 * `vendorsOf`; `product` is the listing's name without a part in brackets. Both leave out words that any name may have.
 */
export const EXACT_KINDS = ['id', 'host', 'vendor', 'name', 'product'] as const
export type ExactKind = (typeof EXACT_KINDS)[number]

interface Identified {
  id: string
  name: string
  url: string
  domain?: string | undefined
}

const NOT_IN_WORDS = /[^\p{L}\p{N}+#]+/gu
/** In `io.github.someone/repo`, the part after the slash is also a name. */
const NAMESPACED = /^[\w.-]+\/([\w.@-]+)$/
/** A part in brackets names an owner or a variant: `Slack (community)`. */
const BRACKETS = /\([^()]*\)/g
const KIND_WORDS = /(?<![\p{L}\p{N}])(?:mcp|server|api)(?![\p{L}\p{N}])/giu
/** The account in an address on a host where strangers publish: `github.com/acme`, `…/package/@acme/mcp`. */
const ACCOUNT = /^\/(?:package\/@)?([\w-]+)\//

/** Collects the exact keys of documents that come one by one. */
export function createExactKeys() {
  const numbers = new Map<string, number>()
  const held = createNumberList()
  /** The end of each document's keys. */
  const ends = createNumberList()
  let last: Place | undefined
  return {
    /** @returns whether the document's id is new */
    add(document: Identified): boolean {
      const { url, domain } = document
      // Operations have their listing's address, and come one after another.
      if (last?.url !== url || last.domain !== domain) last = toPlace(url, domain)
      const keys = exactKeysOf(document, last)
      const isNew = !numbers.has(keyFor('id', document.id))
      for (const key of keys) {
        const number = numbers.get(key) ?? numbers.size
        numbers.set(key, number)
        held.push(number)
      }
      ends.push(held.length())
      return isNew
    },
    /** @param order document numbers, indexed by row */
    finish(order: Uint32Array): ExactTable {
      const keys = [...numbers.keys()].sort()
      const places = new Uint32Array(keys.length)
      for (const [place, key] of keys.entries()) places[numbers.get(key) ?? 0] = place
      const counts = new Uint32Array(keys.length)
      const placeOf = (at: number) => places[held.get(at)] ?? 0
      for (let at = 0; at < held.length(); at += 1)
        counts[placeOf(at)] = (counts[placeOf(at)] ?? 0) + 1
      const starts = startsOf(counts)
      const [next, rows] = [starts.slice(), new Uint32Array(held.length())]
      for (const [row, document] of order.entries()) {
        const first = document === 0 ? 0 : ends.get(document - 1)
        for (let at = first; at < ends.get(document); at += 1) {
          const place = placeOf(at)
          rows[next[place] ?? 0] = row
          next[place] = (next[place] ?? 0) + 1
        }
      }
      return { keys: buildWordTable(keys), starts, rows }
    },
  }
}

/** An address, and the names by which documents there are found. */
interface Place extends Pick<Identified, 'url' | 'domain'> {
  hosts: readonly string[]
  /** The name of the address's domain, or the account on a shared host; `plainOwner` lacks words that any name may have. */
  owner: string | undefined
  plainOwner: string
}

function toPlace(url: string, domain: string | undefined): Place {
  const { hostname = '', pathname = '' } = URL.parse(url) ?? {}
  const owner = domain === undefined ? ACCOUNT.exec(`${pathname}/`)?.[1] : domain.split('.')[0]
  const hosts = [hostname, domain ?? ''].filter((host) => host !== '')
  return {
    ...{ url, domain, owner },
    hosts: hosts.map((host) => keyFor('host', host)),
    plainOwner: glueWithoutKind(owner ?? ''),
  }
}

/** The document's keys, without repeats. */
function exactKeysOf({ id, name }: Identified, place: Place): Set<string> {
  const names = namesOf(name)
  return new Set([
    keyFor('id', id),
    ...place.hosts,
    ...vendorsOf(place, names).map((text) => keyFor('vendor', text)),
    ...names.map((text) => keyFor('name', text)),
    ...names.map((text) => keyFor('product', withoutBrackets(text))),
  ])
}

/** The rows that have this text as a key. */
export function findExact(table: ExactTable, kind: ExactKind, text: string): Uint32Array {
  const { keys, starts, rows } = table
  const key = findWord(keys, keyFor(kind, text))
  return key < 0 ? rows.subarray(0, 0) : rows.subarray(starts[key], starts[key + 1])
}

function keyFor(kind: ExactKind, text: string): string {
  return `${kind} ${PLAIN[kind](text)}`.toWellFormed()
}

/** For each kind of key, the function that gives all variants one spelling. */
const PLAIN: Record<ExactKind, (text: string) => string> = {
  id: (text) => text,
  host: (text) => text.toLowerCase().replace(/^www\./, ''),
  vendor: glueWithoutKind,
  name: glue,
  product: glueWithoutKind,
}

function glue(text: string): string {
  return foldText(text).replace(NOT_IN_WORDS, '')
}

/** Leaves out the word for a kind; a name that consists only of such words keeps them. */
function glueWithoutKind(text: string): string {
  return glue(text.replaceAll('_', ' ').replace(KIND_WORDS, ' ')) || glue(text)
}

function withoutBrackets(text: string): string {
  return text.replace(BRACKETS, ' ')
}

/**
 * The names by which a query for a vendor finds the listing: the owner of its address, if the listing is
 * named after that owner, and on a domain of its own also the listing's names.
 */
function vendorsOf({ owner, plainOwner, domain }: Place, names: readonly string[]): string[] {
  const isNamed = names.some((name) => isNamedAfter(name, plainOwner))
  return [
    ...(isNamed && owner !== undefined ? [owner] : []),
    ...(domain === undefined ? [] : names),
  ]
}

/** Whether a name starts with another, word by word: `Acme Maps` starts with `acme`, `Acmeville` does not. */
function isNamedAfter(name: string, plain: string): boolean {
  if (plain === '') return false
  const own = withoutBrackets(name).replace(KIND_WORDS, ' ')
  const words = own.split(NOT_IN_WORDS).filter((word) => word !== '')
  return words.some((_, at) => glue(words.slice(0, at + 1).join('')) === plain)
}

function namesOf(name: string): string[] {
  const [, repository] = NAMESPACED.exec(name) ?? []
  const names = repository === undefined ? [name] : [name, repository]
  return names.filter((text) => PLAIN.name(text) !== '')
}
