import { Worker } from 'node:worker_threads'

/** Young objects in a thread are soon garbage: by default it would reserve three times as much. */
const LIMITS = { maxYoungGenerationSizeMb: 16 }

/**
 * Runs a program in a thread of its own and returns what it posts.
 *
 * @param ended message for when it ends silently
 * @param transferList transferred memory: a copy would be as large again
 * @throws what the program throws
 */
export function inThread<Result>(
  program: URL,
  workerData: unknown,
  ended: string,
  transferList: ArrayBuffer[] = [],
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(program, { workerData, transferList, resourceLimits: LIMITS })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error(ended)))
  })
}

/** Concatenates pieces in memory of their own that can be transferred to a thread. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}
