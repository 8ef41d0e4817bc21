/**
 * Merkle trees as RFC 9162 §2.1 hashes them. A tree is stored as its complete subtrees, the nodes,
 * by level and position; every proof consists of nodes, so that reading one costs as many rows as
 * the tree is high.
 */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

/** A complete subtree of `2 ** level` leaves, the `place`th of its level. */
export interface Node {
  level: number
  place: number
}

/** Leaves from `start` up to `end`. */
interface Range {
  start: number
  end: number
}

export function leafHash(sha256: Sha256, leaf: Uint8Array): Uint8Array {
  const marked = new Uint8Array(1 + leaf.length)
  marked.set(leaf, 1)
  return sha256(marked)
}

export function nodeHash(sha256: Sha256, left: Uint8Array, right: Uint8Array): Uint8Array {
  const both = new Uint8Array(1 + left.length + right.length)
  both[0] = 1
  both.set(left, 1)
  both.set(right, 1 + left.length)
  return sha256(both)
}

/**
 * Adds leaves to a tree.
 *
 * @param peaks hashes of the complete subtrees that the tree of `size` leaves is made of, largest first
 * @returns the newly complete nodes, including leaves, and the new peaks
 */
export function appendLeaves(
  sha256: Sha256,
  { size, peaks }: { size: number; peaks: readonly Uint8Array[] },
  leaves: readonly Uint8Array[],
) {
  const nodes: (Node & { hash: Uint8Array })[] = []
  const tops = [...peaks]
  let at = size
  for (const leaf of leaves) {
    nodes.push({ level: 0, place: at, hash: leaf })
    let [hash, level] = [leaf, 0]
    for (let place = at; place % 2 === 1; place = (place - 1) / 2) {
      const left = tops.pop()
      if (left === undefined) throw new Error(`expected a peak of level ${level} at ${at}`)
      hash = nodeHash(sha256, left, hash)
      level += 1
      nodes.push({ level, place: (place - 1) / 2, hash })
    }
    tops.push(hash)
    at += 1
  }
  return { nodes, peaks: tops, size: at }
}

/** The hash of a tree from its peaks, largest first. */
export function foldPeaks(sha256: Sha256, peaks: readonly Uint8Array[]): Uint8Array {
  const [last, ...rest] = peaks.toReversed()
  if (last === undefined) return sha256(new Uint8Array())
  return rest.reduce((right, left) => nodeHash(sha256, left, right), last)
}

/** Parts of the proof that a leaf is in a tree (RFC 9162 §2.1.3.1), each as its nodes. */
export function inclusionNodes(position: number, size: number): Node[][] {
  const path: Range[] = []
  let [start, end] = [0, size]
  while (end - start > 1) {
    const middle = start + splitOf(end - start)
    if (position < middle) {
      path.push({ start: middle, end })
      end = middle
    } else {
      path.push({ start, end: middle })
      start = middle
    }
  }
  return path.toReversed().map(toNodes)
}

/** Parts of the proof that a tree extends one of `from` leaves (RFC 9162 §2.1.4.1). */
export function consistencyNodes(from: number, size: number): Node[][] {
  if (from <= 0 || from >= size) return []
  const path: Range[] = []
  let [start, end] = [0, size]
  let isComplete = true
  while (from !== end) {
    const middle = start + splitOf(end - start)
    if (from <= middle) {
      path.push({ start: middle, end })
      end = middle
    } else {
      path.push({ start, end: middle })
      start = middle
      isComplete = false
    }
  }
  const own = isComplete ? [] : [{ start, end }]
  return [...own, ...path.toReversed()].map(toNodes)
}

/** RFC 9162 §2.1.3.2: the root that a leaf and its path lead to. @returns null where they lead nowhere */
export function rootOfInclusion(
  sha256: Sha256,
  leaf: Uint8Array,
  { position, size, path }: { position: number; size: number; path: readonly Uint8Array[] },
): Uint8Array | null {
  if (position < 0 || position >= size) return null
  let hash = leaf
  const isAtRoot = climb([position, size - 1], path, (step, isLeft) => {
    hash = isLeft ? nodeHash(sha256, step, hash) : nodeHash(sha256, hash, step)
  })
  return isAtRoot ? hash : null
}

/** Climbs from a node of a tree. @returns whether the steps end at its root */
function climb(
  [first, last]: [number, number],
  steps: readonly Uint8Array[],
  onStep: (step: Uint8Array, isLeft: boolean) => void,
): boolean {
  for (const step of steps) {
    if (last === 0) return false
    const isLeft = first % 2 === 1 || first === last
    onStep(step, isLeft)
    if (isLeft) while (first % 2 === 0 && first !== 0) [first, last] = halve(first, last)
    ;[first, last] = halve(first, last)
  }
  return last === 0
}

/** RFC 9162 §2.1.4.2: whether a tree extends an earlier one. */
export function isConsistent(
  sha256: Sha256,
  older: { size: number; root: Uint8Array },
  newer: { size: number; root: Uint8Array },
  proof: readonly Uint8Array[],
): boolean {
  if (older.size > newer.size) return false
  if (older.size === newer.size) return proof.length === 0 && isSame(older.root, newer.root)
  if (older.size === 0) return proof.length === 0
  const roots = rootsOfConsistency(sha256, older, newer.size, proof)
  return roots !== null && isSame(roots.old, older.root) && isSame(roots.now, newer.root)
}

/** The roots that a proof leads to, of the earlier tree and of the later one. */
function rootsOfConsistency(
  sha256: Sha256,
  older: { size: number; root: Uint8Array },
  size: number,
  proof: readonly Uint8Array[],
) {
  const isPower = 2 ** Math.floor(Math.log2(older.size)) === older.size
  let [first, last] = [older.size - 1, size - 1]
  while (first % 2 === 1) [first, last] = halve(first, last)
  const [start, ...steps] = isPower ? [older.root, ...proof] : proof
  if (start === undefined) return null
  let [old, now] = [start, start]
  const isAtRoot = climb([first, last], steps, (step, isLeft) => {
    if (isLeft) old = nodeHash(sha256, step, old)
    now = isLeft ? nodeHash(sha256, step, now) : nodeHash(sha256, now, step)
  })
  return isAtRoot ? { old, now } : null
}

/** The largest power of two below `n`. */
function splitOf(n: number): number {
  let power = 1
  while (power * 2 < n) power *= 2
  return power
}

/** The complete subtrees of a range, largest first; its start is a multiple of the largest. */
function toNodes({ start, end }: Range): Node[] {
  const nodes: Node[] = []
  for (let at = start; at < end; ) {
    let [level, width] = [0, 1]
    while (width * 2 <= end - at && at % (width * 2) === 0) [level, width] = [level + 1, width * 2]
    nodes.push({ level, place: at / width })
    at += width
  }
  return nodes
}

function halve(first: number, last: number): [number, number] {
  return [Math.floor(first / 2), Math.floor(last / 2)]
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at])
}
