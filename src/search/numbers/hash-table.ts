/**
 * Numbers by the hash of what they stand for, as one typed array: open addressing, a slot holds a
 * number plus one in its low bits, or 0. The high bits hold as much of the hash as fits: what was
 * found must still be proved, but hardly anything else is ever looked at.
 */
export interface HashTable {
  slots: Uint32Array
  /** All numbers are below it. */
  limit: number
}

const HASHES = 2 ** 32

/**
 * @param numbers what the table holds, in the order in which equal hashes are found
 * @param slotsPerNumber more than 1: the closer to it, the longer a search that fails
 */
export function buildHashTable(
  numbers: readonly number[],
  hashOf: (number: number) => number,
  { limit, slotsPerNumber }: { limit: number; slotsPerNumber: number },
): HashTable {
  const size = Math.max(Math.ceil(numbers.length * slotsPerNumber), numbers.length + 1)
  const table = { slots: new Uint32Array(size), limit }
  for (const number of numbers) {
    const hash = hashOf(number)
    let slot = homeOf(table, hash)
    while (table.slots[slot] !== 0) slot = slotAfter(table, slot)
    table.slots[slot] = tagOf(table, hash) | (number + 1)
  }
  return table
}

/** The first number under a hash that is what is wanted, or -1. */
export function findNumber(
  table: HashTable,
  hash: number,
  isWanted: (number: number) => boolean,
): number {
  const bits = numberBits(table)
  const tag = tagOf(table, hash)
  for (let slot = homeOf(table, hash); ; slot = slotAfter(table, slot)) {
    const held = table.slots[slot] ?? 0
    if (held === 0) return -1
    if ((held ^ tag) >>> bits !== 0) continue
    const number = (held ^ tag) - 1
    if (isWanted(number)) return number
  }
}

/** The high bits of the hash say where a search begins, so the tag is of the low ones. */
function homeOf({ slots }: HashTable, hash: number): number {
  return Math.floor((hash / HASHES) * slots.length)
}

function tagOf(table: HashTable, hash: number): number {
  return hash << numberBits(table)
}

function numberBits({ limit }: HashTable): number {
  return 32 - Math.clz32(limit)
}

function slotAfter({ slots }: HashTable, slot: number): number {
  return slot + 1 === slots.length ? 0 : slot + 1
}
