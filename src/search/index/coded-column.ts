/** A number for each row, where few differ: the distinct ones, and which of them each row has. */
export interface CodedColumn {
  /** Places in `values`; as wide as those need. */
  codes: Uint8Array | Uint16Array | Uint32Array
  /** The distinct numbers, ascending; NaN comes last. */
  values: Float64Array
}

const CODES_OF_ONE_BYTE = 2 ** 8
const CODES_OF_TWO_BYTES = 2 ** 16

export function buildCodedColumn(numbers: ArrayLike<number>): CodedColumn {
  const values = Float64Array.from(new Set(Array.from(numbers))).sort()
  const places = new Map([...values.entries()].map(([place, value]) => [value, place]))
  const codes = createCodes(numbers.length, values.length)
  for (let row = 0; row < numbers.length; row += 1) {
    codes[row] = places.get(numbers[row] ?? Number.NaN) ?? 0
  }
  return { codes, values }
}

function createCodes(rows: number, values: number): CodedColumn['codes'] {
  if (values <= CODES_OF_ONE_BYTE) return new Uint8Array(rows)
  return values <= CODES_OF_TWO_BYTES ? new Uint16Array(rows) : new Uint32Array(rows)
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
