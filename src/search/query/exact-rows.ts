import { EXACT_KINDS, type ExactKind, findExact } from '../index/exact-table.ts'
import { readId } from '../index/index-rows.ts'
import type { IndexPart, SearchIndex } from '../index/index-shape.ts'
import { passes } from './filter-rows.ts'

/** A query may be pasted as an address. */
const ADDRESS = /^(?:https?:\/\/)?([^/?#\s]+)\/?$/i

/** Rows that go before all others, whatever their score: the query is their id, host or a name. */
export interface ExactRows {
  kind: ExactKind
  rows: readonly number[]
}

/** The exact rows that pass the filters, by kind, each once; no kind without rows. */
export function exactRows(
  index: SearchIndex,
  part: IndexPart,
  { text, bits }: { text: string; bits: Uint32Array | null },
): ExactRows[] {
  const found: ExactRows[] = []
  const add = (kind: ExactKind, rows: Iterable<number>) => {
    const others = [...rows].filter((row) => passes(bits, row) && kindOf(found, row) === null)
    if (others.length > 0) found.push({ kind, rows: others })
  }
  for (const kind of EXACT_KINDS) {
    const rows = rowsFor(index, part, kind, text)
    // Of a vendor's listings, those named like it come first.
    if (kind === 'vendor')
      for (const named of ['name', 'product'] as const)
        add(named, new Set(rows).intersection(new Set(rowsFor(index, part, named, text))))
    add(kind, rows)
  }
  return found
}

export function kindOf(exact: readonly ExactRows[], row: number): ExactKind | null {
  return exact.find(({ rows }) => rows.includes(row))?.kind ?? null
}

function rowsFor(
  index: SearchIndex,
  part: IndexPart,
  kind: ExactKind,
  text: string,
): Iterable<number> {
  const asked = text.trim()
  if (kind === 'vendor' || kind === 'product' || kind === 'name')
    return findExact(part.exact, kind, asked)
  const [, host] = ADDRESS.exec(asked) ?? []
  if (kind === 'host') return host?.includes('.') ? findExact(part.exact, 'host', host) : []
  const id = asked.toLowerCase()
  if (!id.includes('.')) return []
  const name = part === index.organic ? 'organic' : 'firstParty'
  return findExact(part.exact, 'id', id).filter((row) => readId(index, name, row) === id)
}
