/** A number for each row, for few distinct values: the values, and which of them each row has. */
export interface CodedColumn {
  /** Indexes into `values`. */
  codes: Uint32Array
  /** The distinct numbers, ascending; NaN comes last. */
  values: Float64Array
}

export function buildCodedColumn(numbers: readonly number[]): CodedColumn {
  const values = Float64Array.from(new Set(numbers)).sort()
  const places = new Map([...values.entries()].map(([place, value]) => [value, place]))
  const codes = Uint32Array.from(numbers, (number) => places.get(number) ?? 0)
  return { codes, values }
}

export function valueAt({ codes, values }: CodedColumn, row: number): number {
  return values[codes[row] ?? 0] ?? Number.NaN
}

/** How many of the distinct numbers are at most this one: a row qualifies if its code is below. */
export function countUpTo({ values }: CodedColumn, most: number): number {
  let count = 0
  while (count < values.length && (values[count] ?? Number.NaN) <= most) count += 1
  return count
}
