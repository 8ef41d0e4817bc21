import { foldText } from '../words/split-text.ts'
import { createNumberList } from './number-list.ts'
import { buildWordTable, findWord, startsOf, type WordTable } from './terms.ts'

/**
 * Rows by keys that a query may equal: a listing's id, its host, its full name, its vendor's name,
 * or its product's. The keys are sorted, and so are the rows of each.
 */
export interface ExactTable {
  keys: WordTable
  /** Where the rows of each key start; one more than there are keys. */
  starts: Uint32Array
  rows: Uint32Array
}

/**
 * In the order in which they put a listing first. `vendor`: who is at its address, see `vendorsOf`.
 * `product`: its name without the part in brackets. Both leave out words that any name may have.
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
/** `io.github.someone/repo`: the part after the slash is a name too. */
const NAMESPACED = /^[\w.-]+\/([\w.@-]+)$/
/** `Slack (community)`: the brackets name its owner or variant. */
const BRACKETS = /\([^()]*\)/g
const KIND_WORDS = /(?<![\p{L}\p{N}])(?:mcp|server|api)(?![\p{L}\p{N}])/giu
/** The account in an address on a host where strangers publish: `github.com/acme`, `…/package/@acme/mcp`. */
const ACCOUNT = /^\/(?:package\/@)?([\w-]+)\//

/** Collects the keys (`exactKeysOf`) of documents that come one by one. */
export function createExactKeys() {
  const numbers = new Map<string, number>()
  const held = createNumberList()
  /** By document: where its keys end. */
  const ends = createNumberList()
  return {
    /** @returns whether its id, the first of its keys, is new */
    add(keys: readonly string[]): boolean {
      const isNew = keys[0] !== undefined && !numbers.has(keys[0])
      for (const key of keys) {
        const number = numbers.get(key) ?? numbers.size
        numbers.set(key, number)
        held.push(number)
      }
      ends.push(held.length())
      return isNew
    },
    /** @param order the documents by row */
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

/** What a listing is found by exactly, without repeats. */
export function exactKeysOf({ id, url, domain, name }: Identified): string[] {
  const names = namesOf(name)
  const keys = [
    keyFor('id', id),
    ...hostsOf(url, domain).map((host) => keyFor('host', host)),
    ...vendorsOf(url, domain, names).map((text) => keyFor('vendor', text)),
    ...names.map((text) => keyFor('name', text)),
    ...names.map((text) => keyFor('product', withoutBrackets(text))),
  ]
  return [...new Set(keys)]
}

/** The rows whose id, host or full name is this text. */
export function findExact(table: ExactTable, kind: ExactKind, text: string): Uint32Array {
  const { keys, starts, rows } = table
  const key = findWord(keys, keyFor(kind, text))
  return key < 0 ? rows.subarray(0, 0) : rows.subarray(starts[key], starts[key + 1])
}

function keyFor(kind: ExactKind, text: string): string {
  return `${kind} ${PLAIN[kind](text)}`.toWellFormed()
}

/** One spelling for all variants of a key. */
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

/** A name made only of such words keeps them. */
function glueWithoutKind(text: string): string {
  return glue(text.replaceAll('_', ' ').replace(KIND_WORDS, ' ')) || glue(text)
}

function withoutBrackets(text: string): string {
  return text.replace(BRACKETS, ' ')
}

/** The host, and its domain unless that is shared. */
function hostsOf(url: string, domain: string | undefined): string[] {
  const host = URL.parse(url)?.hostname ?? ''
  return [host, domain ?? ''].filter((name) => name !== '')
}

/**
 * The vendor at an address: the name of the domain, or the account on a shared host, if the listing
 * is named after it. A service with its own domain is not somebody else's work on another, either.
 */
function vendorsOf(url: string, domain: string | undefined, names: readonly string[]): string[] {
  const { pathname = '' } = URL.parse(url) ?? {}
  const owner = domain === undefined ? ACCOUNT.exec(`${pathname}/`)?.[1] : domain.split('.')[0]
  const named = names.some((name) => owner !== undefined && isNamedAfter(name, owner))
  return [...(named && owner !== undefined ? [owner] : []), ...(domain === undefined ? [] : names)]
}

/** Whether a name starts with another, word by word: `Acme Maps` is of `acme`, `Acmeville` is not. */
function isNamedAfter(name: string, other: string): boolean {
  const [plain, own] = [glueWithoutKind(other), withoutBrackets(name).replace(KIND_WORDS, ' ')]
  const words = own.split(NOT_IN_WORDS).filter((word) => word !== '')
  return plain !== '' && words.some((_, at) => glue(words.slice(0, at + 1).join('')) === plain)
}

function namesOf(name: string): string[] {
  const [, repository] = NAMESPACED.exec(name) ?? []
  const names = repository === undefined ? [name] : [name, repository]
  return names.filter((text) => PLAIN.name(text) !== '')
}
