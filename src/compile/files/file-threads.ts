import { availableParallelism } from 'node:os'
import type { Worker } from 'node:worker_threads'
import { createCompressedWriter, type FreshFile } from './compress-files.ts'
import { FILES_WORKER, inThread, joinBytes } from './in-thread.ts'
import type { ListedFile } from './manifest.ts'

const MAX_THREADS = 4

/** Fewer are written before threads have started. */
const LEAST_FILES = 500

/** Bytes that a thread is given at once, and those that may wait for all of them. */
const BATCH_BYTES = 2 ** 20
const MOST_WAITING = 24 * BATCH_BYTES

/** Threads that failed make no room: after this they are waited for no more (milliseconds). */
const LONGEST_WAIT = 10_000

/** Files that a thread is given at once, their bytes one behind the other. */
export interface Batch {
  files: { file: string; digest: string; hasCopy: boolean; length: number }[]
  bytes: Uint8Array<ArrayBuffer>
}

/** What a thread is given from the start. */
export interface WriteWork {
  work: 'write'
  root: string
  /** One number: the bytes that wait. Threads take off what they have written, and notify. */
  waiting: Int32Array
}

/** Writes and compresses files in threads, while others are made; without `finish`, in part. */
export interface FileThreads extends AsyncDisposable {
  write(made: FreshFile): void
  /** @returns what a server must know of each */
  finish(): Promise<ListedFile[]>
}

export function createFileThreads(root: string): FileThreads {
  const waiting = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const threads: Worker[] = []
  const listed: Promise<ListedFile[]>[] = []
  let held: FreshFile[] = []
  let size = 0
  let isStuck = false
  const begin = () => {
    const work: WriteWork = { work: 'write', root, waiting }
    const ended = `${root}: a thread ended before its files`
    const begun = (thread: Worker) => threads.push(thread)
    const made = inThread<ListedFile[]>(FILES_WORKER, work, ended, { begun })
    // Told by `finish`.
    made.catch(() => undefined)
    listed.push(made)
  }
  const send = () => {
    const batch = toBatch(held)
    held = []
    size = 0
    const bytes = Atomics.add(waiting, 0, batch.bytes.length) + batch.bytes.length
    // The first has waited longest for more.
    const thread = threads.shift()
    if (thread === undefined) throw new Error(`${root}: expected a thread`)
    thread.postMessage(batch, [batch.bytes.buffer])
    threads.push(thread)
    if (bytes > MOST_WAITING && !isStuck)
      isStuck = Atomics.wait(waiting, 0, bytes, LONGEST_WAIT) === 'timed-out'
  }
  return {
    write(made) {
      held.push(made)
      size += made.bytes.length
      if (held.length === LEAST_FILES && threads.length === 0)
        for (let i = Math.min(MAX_THREADS, availableParallelism()); i > 0; i -= 1) begin()
      if (threads.length > 0 && size >= BATCH_BYTES) send()
    },
    async finish() {
      if (threads.length === 0) return held.map(createCompressedWriter(root))
      send()
      for (const thread of threads) thread.postMessage(null)
      return (await Promise.all(listed)).flat()
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(threads.map((thread) => thread.terminate()))
    },
  }
}

function toBatch(made: readonly FreshFile[]): Batch {
  const files = made.map(({ bytes, ...rest }) => ({ ...rest, length: bytes.length }))
  return { files, bytes: joinBytes(made.map(({ bytes }) => bytes)) }
}
