import { Worker } from 'node:worker_threads'

/** What is young in a thread is soon garbage: by itself each would set aside three times as much. */
const LIMITS = { maxYoungGenerationSizeMb: 16 }

/**
 * Runs a program in a thread of its own and gives what it posts.
 *
 * @param ended what it means when it ends without a word
 * @param transferList memory that it takes over: a copy would be as large again
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

/** Pieces one behind the other, in memory of their own that a thread can take over. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}
