/**
 * The largest flow through a network (Dinic 1970, shortest paths first). What flows first stays:
 * later paths may lead it another way, and never take it from the edge it came in by. Edges of one
 * node are tried in the order they were added, so whoever comes first is served first.
 *
 * Capacities are whole numbers: sums are exact.
 */
export interface FlowNetwork {
  /** @returns the edge, for asking what flows along it. */
  addEdge(from: number, to: number, capacity: number): number
  /** What the edge takes from now on; less than flows along it only before `empty`. */
  limit(edge: number, capacity: number): void
  /** Lets what still fits flow too. Paths of more than `maxSteps` edges are left out: that bounds the time. */
  fill(source: number, sink: number, maxSteps: number): void
  /** Takes everything back that flows. */
  empty(): void
  flowOf(edge: number): number
}

/** More than anything that flows: an edge that limits nothing. */
export const UNLIMITED = Number.MAX_SAFE_INTEGER

const NONE = -1

export function createFlowNetwork(): FlowNetwork {
  const ends: number[] = []
  const limits: number[] = []
  let state: State | null = null
  const capacityOf = (edge: number) => (state?.capacity ?? limits)[edge] ?? 0
  return {
    addEdge(from, to, capacity) {
      // An edge and its way back lie side by side: `edge ^ 1` is the other.
      const edge = ends.length
      ends.push(to, from)
      limits.push(capacity, 0)
      state = null
      return edge
    },
    limit(edge, capacity) {
      if (state !== null) state.capacity[edge] = capacity - (state.capacity[edge ^ 1] ?? 0)
      limits[edge] = capacity
    },
    fill(source, sink, maxSteps) {
      state ??= toState(ends, limits)
      while (setLevels(state, source, sink, maxSteps)) pushShortest(state, source, sink)
    },
    empty: () => state?.capacity.set(limits),
    flowOf: (edge) => capacityOf(edge ^ 1),
  }
}

interface State {
  /** Edges by the node they leave: those of `node` are `edges[starts[node]]` up to the next start. */
  starts: Int32Array
  edges: Int32Array
  ends: readonly number[]
  /** What an edge still takes. */
  capacity: Float64Array
  /** Steps from the source; -1 where no path leads. */
  level: Int32Array
  /** The first edge of a node that may still lead on. */
  cursor: Int32Array
  queue: Int32Array
}

function toState(ends: readonly number[], limits: readonly number[]): State {
  let last = 0
  for (const node of ends) if (node > last) last = node
  const starts = new Int32Array(last + 2)
  for (let edge = 0; edge < ends.length; edge++) at(starts, (ends[edge ^ 1] ?? 0) + 1, 1)
  for (let node = 0; node <= last; node++) at(starts, node + 1, starts[node] ?? 0)
  const next = starts.slice()
  const edges = new Int32Array(ends.length)
  for (let edge = 0; edge < ends.length; edge++) {
    const node = ends[edge ^ 1] ?? 0
    edges[next[node] ?? 0] = edge
    at(next, node, 1)
  }
  const level = new Int32Array(last + 1)
  const capacity = Float64Array.from(limits)
  return { starts, edges, ends, capacity, level, cursor: level.slice(), queue: level.slice() }
}

function at(list: Int32Array, index: number, more: number): void {
  list[index] = (list[index] ?? 0) + more
}

/** @returns whether a path short enough leads to the sink. */
function setLevels(state: State, source: number, sink: number, maxSteps: number): boolean {
  const { starts, edges, ends, capacity, level, cursor, queue } = state
  level.fill(NONE)
  cursor.set(starts.subarray(0, cursor.length))
  level[source] = 0
  queue[0] = source
  let found = 1
  for (let head = 0; head < found && level[sink] === NONE; head++) {
    const node = queue[head] ?? 0
    const depth = (level[node] ?? 0) + 1
    if (depth > maxSteps) return false
    for (let n = starts[node] ?? 0; n < (starts[node + 1] ?? 0); n++) {
      const edge = edges[n] ?? 0
      const end = ends[edge] ?? 0
      if (level[end] !== NONE || (capacity[edge] ?? 0) === 0) continue
      level[end] = depth
      queue[found++] = end
    }
  }
  return level[sink] !== NONE
}

/** Everything that fits along the paths that are shortest now; a dead end is left once for all. */
function pushShortest(state: State, source: number, sink: number): void {
  const { ends, cursor } = state
  const path: number[] = []
  let node = source
  for (;;) {
    const edge = node === sink ? NONE : findStep(state, node)
    if (edge !== NONE) {
      path.push(edge)
      node = ends[edge] ?? 0
      continue
    }
    if (node === sink) {
      // On from where the path is full.
      path.length = pushAlong(state, path)
      node = ends[path.at(-1) ?? NONE] ?? source
      continue
    }
    const back = path.pop()
    if (back === undefined) return
    node = ends[back ^ 1] ?? source
    at(cursor, node, 1)
  }
}

/** The next edge of a node that has room and leads one step on. */
function findStep({ starts, edges, ends, capacity, level, cursor }: State, node: number): number {
  const last = starts[node + 1] ?? 0
  const depth = (level[node] ?? 0) + 1
  for (let n = cursor[node] ?? 0; n < last; n++) {
    const edge = edges[n] ?? 0
    if ((capacity[edge] ?? 0) === 0 || level[ends[edge] ?? 0] !== depth) continue
    cursor[node] = n
    return edge
  }
  cursor[node] = last
  return NONE
}

/** @returns how many edges of the path come before the first that is full now. */
function pushAlong({ capacity }: State, path: readonly number[]): number {
  const amount = path.reduce((least, edge) => Math.min(least, capacity[edge] ?? 0), UNLIMITED)
  for (const edge of path) {
    capacity[edge] = (capacity[edge] ?? 0) - amount
    capacity[edge ^ 1] = (capacity[edge ^ 1] ?? 0) + amount
  }
  return path.findIndex((edge) => capacity[edge] === 0)
}
