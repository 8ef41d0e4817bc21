import type { SearchDocument } from './search-document.ts'

/**
 * The offers of rows that have several, sorted by row. The bit sets and the price column cover all
 * offers of a row together; with several offers one may pass by its rail and another by its price.
 */
export interface OfferTable {
  rows: Uint32Array
  /** Positions of the bit sets of its rail and its network; `NO_PLACE` for none. */
  rails: Uint16Array
  networks: Uint16Array
  minUsd: Float64Array
}

const NO_PLACE = 0xffff

/** @param values filter values in the order of their bit sets */
export function buildOfferTable(
  documents: readonly Pick<SearchDocument, 'offers'>[],
  values: readonly string[],
): OfferTable {
  const places = new Map(values.map((value, place) => [value, place]))
  const offers = documents.flatMap(({ offers = [] }, row) =>
    offers.length < 2 ? [] : offers.map((offer) => ({ row, ...offer })),
  )
  const placeOf = (value: string) => places.get(value) ?? NO_PLACE
  return {
    rows: Uint32Array.from(offers, ({ row }) => row),
    rails: Uint16Array.from(offers, ({ rail }) => placeOf(`rail:${rail}`)),
    networks: Uint16Array.from(offers, ({ network }) => placeOf(`network:${network}`)),
    minUsd: Float64Array.from(offers, ({ minUsd }) => minUsd),
  }
}

/** What one offer must have. */
export interface OfferFilter {
  rail?: number | undefined
  network?: number | undefined
  mostUsd?: number | undefined
}

/** The rows with several offers of which none passes. */
export function findUnsold(table: OfferTable, { rail, network, mostUsd }: OfferFilter): number[] {
  const { rows, rails, networks, minUsd } = table
  const unsold: number[] = []
  let isSold = false
  rows.forEach((row, at) => {
    isSold ||=
      (rail === undefined || rails[at] === rail) &&
      (network === undefined || networks[at] === network) &&
      (mostUsd === undefined || (minUsd[at] ?? 0) <= mostUsd)
    if (rows[at + 1] === row) return
    if (!isSold) unsold.push(row)
    isSold = false
  })
  return unsold
}
