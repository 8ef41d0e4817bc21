import { smallestOf } from '../wire/extremes.ts'
/**
 * The largest flow from some nodes of a network to its sink (Dinic 1970, shortest paths first). One
 * network is asked many times, from other nodes each time; between two questions it forgets.
 *
 * Capacities are whole numbers: sums are exact, so that the answer depends on no order.
 */
export interface FlowNetwork {
  addEdge(from: number, to: number, capacity: number): void
  /** @param banned node that no path may touch; -1 for none. */
  maxFlow(roots: readonly number[], sink: number, banned: number): number
}

/** More than anything that flows: an edge that limits nothing. */
export const UNLIMITED = Number.MAX_SAFE_INTEGER

const NONE = -1

export function createFlowNetwork(nodes: number): FlowNetwork {
  const state: State = {
    first: new Int32Array(nodes).fill(NONE),
    level: new Int32Array(nodes).fill(NONE),
    cursor: new Int32Array(nodes),
    to: [],
    next: [],
    capacity: [],
    used: new Map(),
  }
  return {
    addEdge(from, to, capacity) {
      // An edge and its way back lie side by side: `edge ^ 1` is the other.
      addHalf(state, from, to, capacity)
      addHalf(state, to, from, 0)
    },
    maxFlow(roots, sink, banned) {
      let flow = 0
      let more = 0
      do {
        more = pushShortest(state, roots, sink, banned)
        flow += more
      } while (more > 0)
      for (const [edge, capacity] of state.used) state.capacity[edge] = capacity
      state.used.clear()
      return flow
    },
  }
}

interface State {
  /** First edge of a node, then `next` of an edge; -1 ends. */
  first: Int32Array
  next: number[]
  to: number[]
  /** What an edge still takes. */
  capacity: number[]
  /** Steps from the roots; -1 where no path leads. */
  level: Int32Array
  cursor: Int32Array
  /** Capacities as they were, of edges that were touched. */
  used: Map<number, number>
}

function addHalf(state: State, from: number, to: number, capacity: number): void {
  state.next.push(state.first[from] ?? NONE)
  state.first[from] = state.to.length
  state.to.push(to)
  state.capacity.push(capacity)
}

/** What fits along the paths that are shortest now; 0 when the sink is cut off. */
function pushShortest(state: State, roots: readonly number[], sink: number, banned: number) {
  const seen = setLevels(state, roots, sink, banned)
  let flow = 0
  if (state.level[sink] !== NONE) for (const root of roots) flow += pushFrom(state, root, sink)
  for (const node of seen) state.level[node] = NONE
  return flow
}

/** @returns the nodes that got a level, for taking it away again. */
function setLevels(
  { first, next, to, capacity, level, cursor }: State,
  roots: readonly number[],
  sink: number,
  banned: number,
): number[] {
  const queue: number[] = []
  const visit = (node: number, depth: number) => {
    if (node === banned || level[node] !== NONE) return
    level[node] = depth
    cursor[node] = first[node] ?? NONE
    queue.push(node)
  }
  for (const root of roots) visit(root, 0)
  for (let head = 0; head < queue.length && level[sink] === NONE; head++) {
    const node = queue[head] ?? NONE
    for (let edge = first[node] ?? NONE; edge !== NONE; edge = next[edge] ?? NONE)
      if ((capacity[edge] ?? 0) > 0) visit(to[edge] ?? NONE, (level[node] ?? 0) + 1)
  }
  return queue
}

/** Everything that still fits from one root along shortest paths; a dead end is left once for all. */
function pushFrom(state: State, root: number, sink: number): number {
  const path: number[] = []
  let node = root
  let flow = 0
  for (;;) {
    if (node === sink) {
      flow += pushAlong(state, path)
      // On from where the path is full.
      const full = path.findIndex((edge) => state.capacity[edge] === 0)
      node = state.to[(path[full] ?? 0) ^ 1] ?? root
      path.length = full
      continue
    }
    const edge = findStep(state, node)
    if (edge !== NONE) {
      path.push(edge)
      node = state.to[edge] ?? NONE
      continue
    }
    const back = path.pop()
    if (back === undefined) return flow
    node = state.to[back ^ 1] ?? NONE
    state.cursor[node] = state.next[back] ?? NONE
  }
}

/** The next edge of a node that has room and leads one step on. */
function findStep({ cursor, next, to, capacity, level }: State, node: number): number {
  let edge = cursor[node] ?? NONE
  while (edge !== NONE) {
    const target = to[edge] ?? NONE
    if ((capacity[edge] ?? 0) > 0 && level[target] === (level[node] ?? 0) + 1) break
    edge = next[edge] ?? NONE
  }
  cursor[node] = edge
  return edge
}

function pushAlong({ capacity, used }: State, path: readonly number[]): number {
  const amount = smallestOf(path.map((edge) => capacity[edge] ?? 0))
  for (const edge of path) {
    const back = edge ^ 1
    if (!used.has(edge)) used.set(edge, capacity[edge] ?? 0)
    if (!used.has(back)) used.set(back, capacity[back] ?? 0)
    capacity[edge] = (capacity[edge] ?? 0) - amount
    capacity[back] = (capacity[back] ?? 0) + amount
  }
  return amount
}
