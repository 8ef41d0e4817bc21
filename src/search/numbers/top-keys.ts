const MIN_BUFFER = 256

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
 * In time linear in the number of keys whatever the size: keys above the threshold are buffered,
 * and a full buffer is cut to its best half, which raises the threshold. (A heap is as fast for a
 * first page, but not for a deep one.)
 */
function createBufferedKeys(size: number): TopKeys {
  const capacity = Math.max(size * 2, MIN_BUFFER)
  let buffer = new Float64Array(Math.min(capacity, MIN_BUFFER))
  let length = 0
  let threshold = Number.NEGATIVE_INFINITY
  return {
    offer(key: number): number {
      if (key <= threshold) return threshold
      if (length === buffer.length && length < capacity) buffer = grow(buffer, capacity)
      if (length === capacity) {
        partitionLargest(buffer, length, size)
        length = size
        threshold = smallest(buffer, size)
        if (key <= threshold) return threshold
      }
      buffer[length] = key
      length += 1
      return threshold
    },
    take(offset: number): Float64Array {
      const kept = Math.min(size, length)
      partitionLargest(buffer, length, kept)
      if (offset >= kept) return new Float64Array(0)
      partitionLargest(buffer, kept, offset)
      return buffer.slice(offset, kept).sort().reverse()
    },
  }
}

function grow(buffer: Float64Array<ArrayBuffer>, capacity: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(Math.min(buffer.length * 2, capacity))
  larger.set(buffer)
  return larger
}

function smallest(keys: Float64Array, length: number): number {
  let least = keys[0] ?? Number.NEGATIVE_INFINITY
  for (let at = 1; at < length; at += 1) least = Math.min(least, keys[at] ?? least)
  return least
}

/** Moves the `wanted` largest of the first `length` keys to the front (Hoare's quickselect). */
function partitionLargest(keys: Float64Array, length: number, wanted: number): void {
  let low = 0
  let high = length - 1
  while (wanted > low && wanted <= high && low < high) {
    const [left, right] = partition(keys, low, high)
    if (wanted - 1 <= right) high = right
    else if (wanted - 1 >= left) low = left
    else return
  }
}

/** Larger keys to the left, smaller to the right; returns where the two sides begin and end. */
function partition(keys: Float64Array, low: number, high: number): [number, number] {
  const pivot = median(keys[low] ?? 0, keys[(low + high) >> 1] ?? 0, keys[high] ?? 0)
  let left = low
  let right = high
  while (left <= right) {
    while ((keys[left] ?? 0) > pivot) left += 1
    while ((keys[right] ?? 0) < pivot) right -= 1
    if (left > right) break
    const key = keys[left] ?? 0
    keys[left] = keys[right] ?? 0
    keys[right] = key
    left += 1
    right -= 1
  }
  return [left, right]
}

function median(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))
}
