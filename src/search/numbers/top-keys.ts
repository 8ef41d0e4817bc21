export interface TopKeys {
  /** Offers a key; returns what the next one must exceed to be kept. */
  offer(key: number): number
  /** The largest keys in descending order. */
  take(): Float64Array
}

/** A first page, and some: so few are quickest kept in order. */
const MAX_SORTED = 64

/** Keeps the `size` largest of any number of keys. */
export function createTopKeys(size: number): TopKeys {
  return size <= MAX_SORTED ? createSortedKeys(size) : createAllKeys(size)
}

function createSortedKeys(size: number): TopKeys {
  const keys = new Float64Array(size)
  let length = 0
  return {
    offer(key) {
      if (length < size) length += 1
      else if (key <= (keys[size - 1] ?? Number.POSITIVE_INFINITY)) return keys[size - 1] ?? key
      let at = length - 1
      for (; at > 0 && (keys[at - 1] ?? 0) < key; at -= 1) keys[at] = keys[at - 1] ?? 0
      keys[at] = key
      return length === size ? (keys[size - 1] ?? 0) : Number.NEGATIVE_INFINITY
    },
    take: () => keys.subarray(0, length),
  }
}

/** Deep pages are rare: everything is kept until one is taken. */
function createAllKeys(size: number): TopKeys {
  const keys: number[] = []
  return {
    offer(key) {
      keys.push(key)
      return Number.NEGATIVE_INFINITY
    },
    take: () => Float64Array.from(keys).sort().reverse().subarray(0, size),
  }
}
