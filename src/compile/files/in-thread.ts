import { Worker } from 'node:worker_threads'

export const FILES_WORKER = new URL('./files-worker.ts', import.meta.url)

/** What is young in a thread is soon garbage: by itself each would set aside three times as much. */
const LIMITS = { maxYoungGenerationSizeMb: 16 }

interface ThreadOptions {
  /** Memory that it takes over: a copy would be as large again. */
  transferList?: ArrayBuffer[]
  /** Is given the thread, where it is told more than it starts with. */
  begun?: (thread: Worker) => unknown
}

/**
 * Runs a program in a thread of its own and gives what it posts.
 *
 * @param ended what it means when it ends without a word
 * @throws what the program throws
 */
export function inThread<Result>(
  program: URL,
  workerData: unknown,
  ended: string,
  { transferList = [], begun = () => undefined }: ThreadOptions = {},
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(program, { workerData, transferList, resourceLimits: LIMITS })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error(ended)))
    begun(worker)
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
