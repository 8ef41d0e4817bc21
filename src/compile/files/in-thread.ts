import { Worker } from 'node:worker_threads'

export const FILES_WORKER = new URL('./files-worker.ts', import.meta.url)

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
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(program, { workerData })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error(ended)))
  })
}
