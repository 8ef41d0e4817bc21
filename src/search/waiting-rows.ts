/** Rows with their scores, in three columns that grow. */
export interface WaitingRows {
  rows: Uint32Array
  /** The things asked for that the row holds, a bit for each. */
  held: Uint8Array
  scores: Float64Array
  length: number
}

/** One is enough: searches are synchronous. It keeps the room it once needed. */
const shared: WaitingRows = {
  rows: new Uint32Array(0),
  held: new Uint8Array(0),
  scores: new Float64Array(0),
  length: 0,
}

export function takeWaitingRows(): WaitingRows {
  shared.length = 0
  return shared
}

/** Makes room for this many rows more. */
export function growWaiting(waiting: WaitingRows, more: number): void {
  const needed = waiting.length + more
  if (needed <= waiting.rows.length) return
  const room = Math.max(needed, 2 * waiting.rows.length)
  const { rows, held, scores } = waiting
  waiting.rows = new Uint32Array(room)
  waiting.rows.set(rows)
  waiting.held = new Uint8Array(room)
  waiting.held.set(held)
  waiting.scores = new Float64Array(room)
  waiting.scores.set(scores)
}
