import { EXACT_KINDS, type ExactKind, findExact } from '../index/exact-table.ts'
import { readId } from '../index/index-rows.ts'
import type { IndexPart, SearchIndex } from '../index/index-shape.ts'
import { passes } from './filter-rows.ts'

/** A query may be pasted as an address. */
const ADDRESS = /^(?:https?:\/\/)?([^/?#\s]+)\/?$/i

/** Rows that go before all others, whatever they score: the query is their id, host or whole name. */
export interface ExactRows {
  rows: readonly number[]
  kindOf(row: number): ExactKind | null
  order(a: number, b: number): number
}

export function exactRows(
  index: SearchIndex,
  part: IndexPart,
  { text, bits }: { text: string; bits: Uint32Array | null },
): ExactRows {
  const kinds = new Map<number, number>()
  EXACT_KINDS.forEach((kind, at) => {
    for (const row of rowsFor(index, part, kind, text))
      if (!kinds.has(row) && passes(bits, row)) kinds.set(row, at)
  })
  const kindAt = (row: number) => kinds.get(row) ?? EXACT_KINDS.length
  return {
    rows: [...kinds.keys()].sort((a, b) => a - b),
    kindOf: (row) => EXACT_KINDS[kindAt(row)] ?? null,
    order: (a, b) => kindAt(a) - kindAt(b),
  }
}

function rowsFor(
  index: SearchIndex,
  part: IndexPart,
  kind: ExactKind,
  text: string,
): Iterable<number> {
  const asked = text.trim()
  if (kind === 'name') return findExact(part.exact, 'name', asked)
  const [, host] = ADDRESS.exec(asked) ?? []
  if (kind === 'host') return host?.includes('.') ? findExact(part.exact, 'host', host) : []
  const id = asked.toLowerCase()
  const name = part === index.organic ? 'organic' : 'firstParty'
  return findExact(part.exact, 'id', id).filter((row) => readId(index, name, row) === id)
}
