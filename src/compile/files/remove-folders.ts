import { Worker } from 'node:worker_threads'

/** Removes folders in a thread: a release has more files than anybody should wait for. */
export async function removeFolders(folders: readonly string[]): Promise<void> {
  if (folders.length === 0) return
  await new Promise<void>((resolve, reject) => {
    const url = new URL('./remove-worker.ts', import.meta.url)
    const worker = new Worker(url, { workerData: folders })
    worker.once('error', reject)
    worker.once('exit', () => resolve())
  })
}
