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
}

interface Result {
  id: string
  name: string
  kind: Kind
  summary: string
  price: { min_usd: number; max_usd: number } | null
  rails: readonly string[]
  trust: number | null
}

export function toSearchRow({ id, name, kind, summary, price, rails, trust }: Result): SearchRow {
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
  }
}

/** A kit of our own: it has no price and no score, and competes with nobody. */
export function toOwnRow({ id, name, kind, summary }: Omit<Result, 'price' | 'rails' | 'trust'>) {
  return toSearchRow({ id, name, kind, summary, price: null, rails: [], trust: null })
}
