/**
 * The largest flow through a network (Dinic 1970, shortest paths first). What flows first stays:
 * later paths may lead it another way, and never take it from the edge it came in by. Edges of one
 * node are tried in the order they were added, so whoever comes first is served first.
 *
 * Capacities are whole numbers: sums are exact. Edges lie in typed arrays beside those of the same
 * node, since a market has millions of them.
 */
export interface FlowNetwork {
  /** @returns the edge, for asking what flows along it. All edges come before the first `fill`. */
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
  const edges: Edges = { from: [], to: [], capacity: [] }
  let made: State | null = null
  const stateOf = () => {
    made ??= toState(edges)
    return made
  }
  const flowOf = (edge: number) => {
    const { place, total, room } = stateOf()
    const there = at(place, edge)
    return (total[there] ?? 0) - (room[there] ?? 0)
  }
  return {
    addEdge(from, to, capacity) {
      edges.to.push(to)
      edges.capacity.push(capacity)
      return edges.from.push(from) - 1
    },
    limit(edge, capacity) {
      const { place, twin, total, room } = stateOf()
      const there = at(place, edge)
      room[there] = capacity - flowOf(edge)
      total[there] = capacity
      total[at(twin, there)] = capacity
    },
    fill(source, sink, maxSteps) {
      const state = stateOf()
      // No edge leads there.
      if (Math.max(source, sink) >= state.level.length) return
      while (setLevels(state, source, sink, maxSteps)) pushShortest(state, source, sink)
    },
    empty() {
      const { place, twin, total, room } = stateOf()
      for (const there of place) {
        room[there] = total[there] ?? 0
        room[at(twin, there)] = 0
      }
    },
    flowOf,
  }
}

interface Edges {
  from: number[]
  to: number[]
  capacity: number[]
}

/** Each edge has two places: at the node it leaves, and, as its way back, at the node it enters. */
interface State {
  /** Places of a node: from `starts[node]` up to the next start. */
  starts: Int32Array
  /** By place: the node at the other end, and the place of the way back. */
  ends: Int32Array
  twin: Int32Array
  /** By place: what its edge takes, which is what both places of it have room for together. */
  total: Float64Array
  /** By place: what it still takes. */
  room: Float64Array
  /** By edge. */
  place: Int32Array
  /** Steps to the sink; -1 where no path leads, or none as short as the shortest. */
  level: Int32Array
  /** The first place of a node that may still lead on. */
  cursor: Int32Array
  queue: Int32Array
}

function toState({ from, to, capacity }: Edges): State {
  let nodes = 0
  for (const ends of [from, to]) for (const node of ends) if (node >= nodes) nodes = node + 1
  const starts = new Int32Array(nodes + 1)
  for (const ends of [from, to])
    for (const node of ends) starts[node + 1] = at(starts, node + 1) + 1
  for (let node = 0; node < nodes; node++)
    starts[node + 1] = at(starts, node + 1) + at(starts, node)
  const next = starts.slice()
  const size = 2 * from.length
  const [ends, twin] = [new Int32Array(size), new Int32Array(size)]
  const [total, room] = [new Float64Array(size), new Float64Array(size)]
  const place = new Int32Array(from.length)
  for (let edge = 0; edge < from.length; edge++) {
    const [start, end] = [from[edge] ?? 0, to[edge] ?? 0]
    const there = at(next, start)
    next[start] = there + 1
    const back = at(next, end)
    next[end] = back + 1
    place[edge] = there
    ends[there] = end
    ends[back] = start
    twin[there] = back
    twin[back] = there
    room[there] = capacity[edge] ?? 0
    total[there] = total[back] = capacity[edge] ?? 0
  }
  const level = new Int32Array(nodes)
  const [cursor, queue] = [level.slice(), level.slice()]
  return { starts, ends, twin, total, room, place, level, cursor, queue }
}

function at(list: Int32Array, index: number): number {
  return list[index] ?? 0
}

/** Steps to the sink, from there back. @returns whether a path short enough leads to it from the source */
function setLevels(state: State, source: number, sink: number, maxSteps: number): boolean {
  const { starts, ends, total, room, level, cursor, queue } = state
  level.fill(NONE)
  cursor.set(starts.subarray(0, cursor.length))
  level[sink] = 0
  queue[0] = sink
  let found = 1
  for (let head = 0; head < found && level[source] === NONE; head++) {
    const node = at(queue, head)
    const depth = at(level, node) + 1
    if (depth > maxSteps) return false
    const last = at(starts, node + 1)
    for (let place = at(starts, node); place < last; place++) {
      const end = at(ends, place)
      if (level[end] !== NONE || room[place] === total[place]) continue
      level[end] = depth
      queue[found++] = end
    }
  }
  return level[source] !== NONE
}

/** Everything that fits along the paths that are shortest now; a dead end is left once for all. */
function pushShortest(state: State, source: number, sink: number): void {
  const { ends, twin, cursor, level } = state
  const path = new Int32Array(at(level, source))
  let [steps, node] = [0, source]
  for (;;) {
    const place = node === sink ? NONE : findStep(state, node)
    if (place !== NONE) {
      path[steps++] = place
      node = at(ends, place)
    } else if (node === sink) {
      // On from where the path is full.
      steps = pushAlong(state, path)
      node = at(ends, at(twin, at(path, steps)))
    } else if (steps === 0) return
    else {
      node = at(ends, at(twin, at(path, --steps)))
      cursor[node] = at(cursor, node) + 1
    }
  }
}

/** The next place of a node that has room and leads one step on. */
function findStep({ starts, ends, room, level, cursor }: State, node: number): number {
  const last = at(starts, node + 1)
  const depth = at(level, node) - 1
  for (let place = at(cursor, node); place < last; place++)
    if (room[place] !== 0 && level[at(ends, place)] === depth) {
      cursor[node] = place
      return place
    }
  cursor[node] = last
  return NONE
}

/** @returns how many steps of the path come before the first that is full now. */
function pushAlong({ room, twin }: State, path: Int32Array): number {
  let amount = UNLIMITED
  for (const place of path) amount = Math.min(amount, room[place] ?? 0)
  let full = NONE
  for (let step = 0; step < path.length; step++) {
    const place = at(path, step)
    const left = (room[place] ?? 0) - amount
    room[place] = left
    const back = at(twin, place)
    room[back] = (room[back] ?? 0) + amount
    if (left === 0 && full === NONE) full = step
  }
  return full
}
