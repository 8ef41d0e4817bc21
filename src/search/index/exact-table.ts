import { foldText } from '../words/fold-text.ts'
import { firstPlace } from './first-place.ts'
import { hashText } from './hash-text.ts'

/**
 * Rows by what a query may be exactly: a listing's id, its host or its whole name. Each is kept as a
 * number of 53 bits, two hashes put together, in order; those that are equal have their rows in
 * order. Nothing proves a hit but the number: it is not a chance hit, and who could forge one could as
 * well have taken the name. An id, which nobody can take, is proved by the row's body.
 */
export interface ExactTable {
  keys: Float64Array
  rows: Uint32Array
}

/** In the order in which they put a listing first. */
export const EXACT_KINDS = ['id', 'host', 'name'] as const
export type ExactKind = (typeof EXACT_KINDS)[number]

const LOW_BITS = 21
const NOT_IN_WORDS = /[^\p{L}\p{N}+#]+/gu
/** `io.github.someone/repo`: the name is also what stands behind the slash. */
const NAMESPACED = /^[\w.-]+\/([\w.@-]+)$/
/** Hosts many listings share: their domain says nothing about the listing. */
const SHARED_HOSTS =
  /(?:^|\.)(?:github|gitlab|bitbucket|npmjs|pypi|smithery|glama|vercel|netlify|onrender|railway|fly|workers|pages|herokuapp|replit|huggingface|googleapis|azurewebsites|amazonaws|cloudfront|ngrok|docker|pipedream)\.[a-z.]+$/

/** @param documents the keys of each (`exactKeysOf`) */
export function buildExactTable(documents: readonly { exact: readonly number[] }[]): ExactTable {
  const entries = documents.flatMap(({ exact }, row) => exact.map((key) => ({ key, row })))
  entries.sort((a, b) => a.key - b.key || a.row - b.row)
  return {
    keys: Float64Array.from(entries, ({ key }) => key),
    rows: Uint32Array.from(entries, ({ row }) => row),
  }
}

/** All that a listing is found by exactly, each once. */
export function exactKeysOf({ id, url, name }: Record<'id' | 'url' | 'name', string>): number[] {
  const keys = [
    keyFor('id', id),
    ...hostsOf(url).map((host) => keyFor('host', host)),
    ...namesOf(name).map((text) => keyFor('name', text)),
  ]
  return [...new Set(keys)]
}

/** The rows a text is the id, the host or the whole name of; see `ExactTable` on proof. */
export function findExact({ keys, rows }: ExactTable, kind: ExactKind, text: string): Uint32Array {
  const key = keyFor(kind, text)
  const first = firstPlace(0, keys.length, (place) => (keys[place] ?? 0) >= key)
  let end = first
  while (keys[end] === key) end += 1
  return rows.subarray(first, end)
}

function keyFor(kind: ExactKind, text: string): number {
  const plain = PLAIN[kind](text)
  const high = hashText(`${kind} ${plain}`)
  const low = hashText(`${plain} ${kind} ${plain.length}`)
  return high * 2 ** LOW_BITS + (low >>> (32 - LOW_BITS))
}

/** One spelling for all ways to write each. */
const PLAIN: Record<ExactKind, (text: string) => string> = {
  id: (text) => text,
  host: (text) => text.toLowerCase().replace(/^www\./, ''),
  name: (text) => foldText(text).replace(NOT_IN_WORDS, ''),
}

/** The host, and the domain it lies in unless that is shared. */
function hostsOf(url: string): string[] {
  const host = URL.parse(url)?.hostname.replace(/^www\./, '') ?? ''
  if (host === '') return []
  return isSharedHost(host) ? [host] : [host, host.split('.').slice(-2).join('.')]
}

export function isSharedHost(host: string): boolean {
  return SHARED_HOSTS.test(host)
}

function namesOf(name: string): string[] {
  const [, repository] = NAMESPACED.exec(name) ?? []
  const names = repository === undefined ? [name] : [name, repository]
  return names.filter((text) => PLAIN.name(text) !== '')
}
