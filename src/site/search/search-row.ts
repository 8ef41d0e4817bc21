import { toUsd } from '../../domain/operation/price-text.ts'
import { pagePath } from '../../domain/wire/links.ts'
import { KIND_LABELS, type Kind } from '../../domain/wire/vocabulary.ts'
import { toHue, toMonogram } from '../rows/tile.ts'

/** A result of the search page: what a compact answer knows, so that typing and submitting show the same. */
export interface SearchRow {
  id: string
  name: string
  summary: string
  page: string
  kindLabel: string
  /** Classes of its tile. */
  tile: string
  monogram: string
  /** Lowest price; null where none is published. */
  price: string | null
  /** `to $0.05`; empty where there is one price. */
  priceTo: string
  rails: string
  trust: number | null
  /** The operation, tool or skill that matches best; empty where none is known. */
  operation: string
  /** The domain that somebody registered for it; null where it is nobody's own. */
  domain: string | null
}

interface Result {
  id: string
  name: string
  kind: Kind
  summary: string
  price: { min_usd: number; max_usd: number } | null
  rails: readonly string[]
  trust: number | null
  domain?: string | undefined
  operation?: string | undefined
}

export function toSearchRow(result: Result): SearchRow {
  const { id, name, kind, summary, price, rails, trust, domain = null, operation } = result
  const isRange = price !== null && price.min_usd !== price.max_usd
  return {
    id,
    name,
    summary,
    page: pagePath(id),
    kindLabel: KIND_LABELS[kind],
    tile: `tile ${kind === 'kit' ? 'is-kit' : kind} hue-${toHue(id)}`,
    monogram: toMonogram(name),
    price: price === null ? null : price.max_usd === 0 ? 'free' : toUsd(price.min_usd),
    priceTo: isRange ? `to ${toUsd(price.max_usd)}` : '',
    rails: rails.join(', '),
    trust,
    operation: operation === undefined ? '' : `Matches ${operation}`,
    domain,
  }
}

/** A kit of our own: it has no price and no score, and competes with nobody. */
export function toOwnRow({ id, name, kind, summary }: Omit<Result, 'price' | 'rails' | 'trust'>) {
  return toSearchRow({ id, name, kind, summary, price: null, rails: [], trust: null })
}

/** What the search page prints of an answer. */
export interface SearchResults {
  kind: 'results'
  total: number
  offset: number
  rows: SearchRow[]
  /** Our own kits that match. */
  own: SearchRow[]
  /** What the words were taken for. */
  notes: readonly string[]
  facets: Readonly<Record<string, readonly { id: string; count: number }[] | undefined>>
}

/** What of a compact answer the page shows; it is of the same release. */
interface PageAnswer {
  total: number
  notes: readonly string[]
  facets?: SearchResults['facets'] | undefined
  results: readonly Result[]
  /** Only where some match. */
  featured_first_party?: readonly Omit<Result, 'price' | 'rails' | 'trust'>[] | undefined
}

export function toResults(answer: PageAnswer, offset = 0): SearchResults {
  const { total, notes, facets = {}, results, featured_first_party = [] } = answer
  const rows = results.map(toSearchRow)
  return {
    kind: 'results',
    total,
    offset,
    rows,
    own: featured_first_party.map(toOwnRow),
    notes,
    facets,
  }
}

/** Rows of one domain that stand open. */
const OPEN_ROWS = 3

/** The places of rows that are folded where the first of them is: what follows the third of one domain. */
export function foldsOf(rows: readonly SearchRow[]): { text: string; places: number[] }[] {
  const byDomain = Map.groupBy(rows.keys(), (place) => rows[place]?.domain ?? null)
  return [...byDomain].flatMap(([domain, all]) => {
    const places = all.slice(OPEN_ROWS)
    if (domain === null || places.length === 0) return []
    return { text: `${places.length} more from ${domain}`, places }
  })
}
