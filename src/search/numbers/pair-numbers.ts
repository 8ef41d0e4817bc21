import { allocateNumbers } from './number-list.ts'

const FIRST_SLOTS = 4096
/** A slot is two numbers and the pair's own plus one (0: free), side by side: one look at memory. */
const SLOT_WIDTH = 3
const MAX_FILLED = 0.7

/**
 * Pairs of numbers as numbers, counted from 0 in the order they come. A `Map` ends at 2^24 entries,
 * and the neighbours in the texts of a million listings are about as many.
 */
export function createPairNumbers() {
  let slots = allocateNumbers(FIRST_SLOTS * SLOT_WIDTH)
  let mask = FIRST_SLOTS - 1
  let size = 0
  const grow = () => {
    const smaller = slots
    mask = mask * 2 + 1
    slots = allocateNumbers((mask + 1) * SLOT_WIDTH)
    for (let at = 0; at < smaller.length; at += SLOT_WIDTH) {
      if (smaller[at + 2] === 0) continue
      const place = findSlot(slots, mask, smaller[at] ?? 0, smaller[at + 1] ?? 0)
      slots.set(smaller.subarray(at, at + SLOT_WIDTH), place)
    }
  }
  return {
    /** The number of a pair, in this order; a new one for a pair not seen before. */
    numberOf(left: number, right: number): number {
      let at = findSlot(slots, mask, left, right)
      const known = slots[at + 2] ?? 0
      if (known !== 0) return known - 1
      if (size >= (mask + 1) * MAX_FILLED) {
        grow()
        at = findSlot(slots, mask, left, right)
      }
      size += 1
      slots[at] = left
      slots[at + 1] = right
      slots[at + 2] = size
      return size - 1
    },
    /** Calls back for every pair, in no order worth a name. */
    forEach(tell: (left: number, right: number, number: number) => void): void {
      for (let at = 0; at < slots.length; at += SLOT_WIDTH) {
        const number = slots[at + 2] ?? 0
        if (number !== 0) tell(slots[at] ?? 0, slots[at + 1] ?? 0, number - 1)
      }
    },
  }
}

/** Where a pair is, or the free slot it belongs in. */
function findSlot(slots: Uint32Array, mask: number, left: number, right: number): number {
  let slot = hashPair(left, right) & mask
  for (;;) {
    const at = slot * SLOT_WIDTH
    if (slots[at + 2] === 0 || (slots[at] === left && slots[at + 1] === right)) return at
    slot = (slot + 1) & mask
  }
}

/** Multiply and shift, as MurmurHash3 ends: near numbers land far apart. */
function hashPair(left: number, right: number): number {
  const mixed = Math.imul(Math.imul(left, 0x9e3779b1) ^ right, 0x85ebca6b)
  const spread = Math.imul(mixed ^ (mixed >>> 15), 0xc2b2ae35)
  return (spread ^ (spread >>> 13)) >>> 0
}
