const FIRST_BUFFER = 128

export interface TopKeys {
  /** Offers a key; returns what the next one must exceed to be kept. */
  offer(key: number): number
  /** The largest keys in descending order, from the `offset`-th on. */
  take(offset: number): Float64Array
}

/** A first page, and some: so few are quickest kept in order. */
const MAX_SORTED = 64

/** Keeps the `size` largest of any number of keys. */
export function createTopKeys(size: number): TopKeys {
  return size <= MAX_SORTED ? createSortedKeys(size) : createBufferedKeys(size)
}

function createSortedKeys(size: number): TopKeys {
  const keys = new Float64Array(size)
  let length = 0
  return {
    offer(key: number): number {
      if (length < size) length += 1
      else if (key <= (keys[size - 1] ?? Number.POSITIVE_INFINITY)) return keys[size - 1] ?? key
      let at = length - 1
      for (; at > 0 && (keys[at - 1] ?? 0) < key; at -= 1) keys[at] = keys[at - 1] ?? 0
      keys[at] = key
      return length === size ? (keys[size - 1] ?? 0) : Number.NEGATIVE_INFINITY
    },
    take: (offset: number): Float64Array => keys.subarray(Math.min(offset, length), length),
  }
}

/**
 * Keys above the threshold are buffered; a full buffer is sorted and cut to its best half, which
 * raises the threshold.
 */
function createBufferedKeys(size: number): TopKeys {
  let buffer = new Float64Array(FIRST_BUFFER)
  let length = 0
  let threshold = Number.NEGATIVE_INFINITY
  const makeRoom = () => {
    if (length < size * 2) {
      const larger = new Float64Array(Math.min(length * 2, size * 2))
      larger.set(buffer)
      buffer = larger
      return
    }
    buffer.sort().copyWithin(0, length - size)
    length = size
    threshold = buffer[0] ?? threshold
  }
  return {
    offer(key: number): number {
      if (key <= threshold) return threshold
      if (length === buffer.length) makeRoom()
      buffer[length] = key
      length += 1
      return threshold
    },
    take: (offset: number): Float64Array =>
      buffer.slice(0, length).sort().reverse().subarray(Math.min(offset, length), size),
  }
}
