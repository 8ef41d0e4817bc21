/**
 * The largest flow through a network (Dinic 1970, shortest paths first). What flows first stays:
 * later paths may lead it another way, and never take it from the edge it came in by. Edges of one
 * node are tried in the order they were added, so the first comer is served first.
 *
 * Capacities are whole numbers: sums are exact. Edges lie in typed arrays beside those of the same
 * node, since a market has millions of them.
 */
export type FlowNetwork = ReturnType<typeof createNetwork>

/** Edges, of which a network is made once all are there. */
export type FlowEdges = ReturnType<typeof createFlowEdges>

/** More than anything that flows: an edge that limits nothing. */
export const UNLIMITED = Number.MAX_SAFE_INTEGER

const NONE = -1

/** @param most edges that may be added */
export function createFlowEdges(most: number) {
  const [from, to] = [new Int32Array(most), new Int32Array(most)]
  const capacity = new Float64Array(most)
  let count = 0
  return {
    /** @returns the edge, for asking what flows along it */
    add(start: number, end: number, takes: number): number {
      from[count] = start
      to[count] = end
      capacity[count] = takes
      return count++
    },
    toNetwork: () => createNetwork(toState({ from, to, capacity, count })),
  }
}

function createNetwork(state: State) {
  const { place, twin, room, level } = state
  return {
    /** What the edge takes from now on; less than flows along it only before `empty`. */
    limit(edge: number, capacity: number): void {
      const there = at(place, edge)
      setRoom(state, there, capacity - flowThrough(state, there))
    },
    /** Lets what still fits flow too, on paths of at most `maxSteps` edges: that bounds the time. */
    fill(source: number, sink: number, maxSteps: number): void {
      // No edge leads there.
      if (Math.max(source, sink) >= level.length) return
      while (setLevels(state, source, sink, maxSteps)) pushShortest(state, source, sink)
    },
    /** Takes everything back that flows. */
    empty(): void {
      for (const there of place) {
        const flow = flowThrough(state, there)
        if (flow === 0) continue
        setRoom(state, there, (room[there] ?? 0) + flow)
        setRoom(state, at(twin, there), 0)
      }
    },
    flowOf: (edge: number) => flowThrough(state, at(place, edge)),
  }
}

interface Edges {
  from: Int32Array
  to: Int32Array
  capacity: Float64Array
  count: number
}

type State = ReturnType<typeof toState>

/**
 * Each edge has two places: at the node it leaves, and, as its way back, at the node it enters.
 * By node: where its places start (up to the next start), its `level` (steps to the sink; -1 where no
 * path leads, or none as short as the shortest) and `cursor` (the first place that may still lead on).
 * By place: the node at the other `ends`, as its complement where nothing can come from there, its
 * `twin` (the way back) and the `room` it has. By edge: its `place` where it leaves.
 */
function toState({ from, to, capacity, count }: Edges) {
  let nodes = 0
  for (const ends of [from, to]) for (const node of ends) if (node >= nodes) nodes = node + 1
  const starts = new Int32Array(nodes + 1)
  for (let edge = 0; edge < count; edge++)
    for (const ends of [from, to]) starts[at(ends, edge) + 1] = at(starts, at(ends, edge) + 1) + 1
  for (let node = 0; node < nodes; node++)
    starts[node + 1] = at(starts, node + 1) + at(starts, node)
  const next = starts.slice()
  const [ends, twin] = [new Int32Array(2 * count), new Int32Array(2 * count)]
  const room = new Float64Array(2 * count)
  const place = new Int32Array(count)
  for (let edge = 0; edge < count; edge++) {
    const [start, end, most] = [at(from, edge), at(to, edge), capacity[edge] ?? 0]
    const there = at(next, start)
    next[start] = there + 1
    const back = at(next, end)
    next[end] = back + 1
    place[edge] = there
    ends[there] = ~end
    ends[back] = most === 0 ? ~start : start
    twin[there] = back
    twin[back] = there
    room[there] = most
  }
  const level = new Int32Array(nodes)
  const [cursor, queue] = [level.slice(), level.slice()]
  return { starts, ends, twin, room, place, level, cursor, queue }
}

/** What flows through a place is what its way back takes. */
function flowThrough({ twin, room }: State, place: number): number {
  return room[at(twin, place)] ?? 0
}

/** What a place still takes, and, at its way back, whether anything can come from it. */
function setRoom({ ends, twin, room }: State, place: number, amount: number): void {
  room[place] = amount
  const back = at(twin, place)
  const end = at(ends, back)
  ends[back] = (amount === 0) === end < 0 ? end : ~end
}

function endOf({ ends }: State, place: number): number {
  const end = at(ends, place)
  return end < 0 ? ~end : end
}

function at(list: Int32Array, index: number): number {
  return list[index] ?? 0
}

/** Steps to the sink, from there back. @returns whether a path short enough leads to it from the source */
function setLevels(state: State, source: number, sink: number, maxSteps: number): boolean {
  const { starts, ends, level, cursor, queue } = state
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
      if (end < 0 || level[end] !== NONE) continue
      level[end] = depth
      queue[found++] = end
    }
  }
  return level[source] !== NONE
}

/** Everything that fits along the paths that are shortest now; a dead end is left once for all. */
function pushShortest(state: State, source: number, sink: number): void {
  const { twin, cursor, level } = state
  const path = new Int32Array(at(level, source))
  let [steps, node] = [0, source]
  for (;;) {
    const place = node === sink ? NONE : findStep(state, node)
    if (place !== NONE) {
      path[steps++] = place
      node = endOf(state, place)
    } else if (node === sink) {
      // On from where the path is full.
      steps = pushAlong(state, path)
      node = endOf(state, at(twin, at(path, steps)))
    } else if (steps === 0) return
    else {
      node = endOf(state, at(twin, at(path, --steps)))
      cursor[node] = at(cursor, node) + 1
    }
  }
}

/** The next place of a node that has room and leads one step on. */
function findStep(state: State, node: number): number {
  const { starts, room, level, cursor } = state
  const last = at(starts, node + 1)
  const depth = at(level, node) - 1
  for (let place = at(cursor, node); place < last; place++)
    if (room[place] !== 0 && level[endOf(state, place)] === depth) {
      cursor[node] = place
      return place
    }
  cursor[node] = last
  return NONE
}

/** @returns how many steps of the path come before the first that is full now. */
function pushAlong(state: State, path: Int32Array): number {
  const { room, twin } = state
  let amount = UNLIMITED
  for (const place of path) amount = Math.min(amount, room[place] ?? 0)
  let full = NONE
  for (let step = 0; step < path.length; step++) {
    const place = at(path, step)
    const left = (room[place] ?? 0) - amount
    setRoom(state, place, left)
    const back = at(twin, place)
    setRoom(state, back, (room[back] ?? 0) + amount)
    if (left === 0 && full === NONE) full = step
  }
  return full
}
