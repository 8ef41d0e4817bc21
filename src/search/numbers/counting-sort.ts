import { allocateNumbers } from './number-list.ts'

/**
 * The places of `keys` in the order of the keys, those of equal ones in the order they came; linear.
 * @param limit all keys are below it
 * @returns also where those of each key start in `order`; one more than there are keys
 */
export function countingSort(keys: Uint32Array, limit: number) {
  const starts = new Uint32Array(limit + 1)
  for (let at = 0; at < keys.length; at += 1) increase(starts, (keys[at] ?? 0) + 1)
  for (let key = 0; key < limit; key += 1) {
    starts[key + 1] = (starts[key + 1] ?? 0) + (starts[key] ?? 0)
  }
  const next = starts.slice()
  const order = allocateNumbers(keys.length)
  for (let at = 0; at < keys.length; at += 1) {
    const key = keys[at] ?? 0
    order[next[key] ?? 0] = at
    increase(next, key)
  }
  return { starts, order }
}

function increase(numbers: Uint32Array, at: number): void {
  numbers[at] = (numbers[at] ?? 0) + 1
}
