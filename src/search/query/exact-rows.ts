import { EXACT_KINDS, type ExactKind, findExact } from '../index/exact-table.ts'
import type { RowRange, SearchIndex } from '../index/index-shape.ts'
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
  range: RowRange,
  { text, bits }: { text: string; bits: Uint32Array | null },
): ExactRows[] {
  const found: ExactRows[] = []
  const add = (kind: ExactKind, rows: Iterable<number>) => {
    const others = [...rows].filter(
      (row) => isIn(range, row) && passes(bits, row) && kindOf(found, row) === null,
    )
    if (others.length > 0) found.push({ kind, rows: others })
  }
  for (const kind of EXACT_KINDS) {
    const rows = rowsFor(index, kind, text)
    // Of a vendor's listings, those named like it come first.
    if (kind === 'vendor')
      for (const named of ['name', 'product'] as const)
        add(named, new Set(rows).intersection(new Set(rowsFor(index, named, text))))
    add(kind, rows)
  }
  return found
}

export function kindOf(exact: readonly ExactRows[], row: number): ExactKind | null {
  return exact.find(({ rows }) => rows.includes(row))?.kind ?? null
}

function isIn({ start, end }: RowRange, row: number): boolean {
  return row >= start && row < end
}

function rowsFor({ exact }: SearchIndex, kind: ExactKind, text: string): Uint32Array {
  const asked = text.trim()
  if (kind === 'vendor' || kind === 'product' || kind === 'name')
    return findExact(exact, kind, asked)
  const [, host = ''] = ADDRESS.exec(asked) ?? []
  const name = kind === 'host' ? host : asked.toLowerCase()
  return name.includes('.') ? findExact(exact, kind, name) : new Uint32Array(0)
}
