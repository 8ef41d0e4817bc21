import { AsyncLocalStorage } from 'node:async_hooks'

/** Total time one request waits for the store, over all queries, before a 503 (milliseconds). */
const PATIENCE_MS = 3_000

const requests = new AsyncLocalStorage<{ waitedMs: number }>()

/** Limits how long one request waits for the store. */
export function withPatience<T>(work: () => T): T {
  return requests.getStore() === undefined ? requests.run({ waitedMs: 0 }, work) : work()
}

/** @param ask gets how long it may wait (milliseconds); undefined where no request waits */
export async function askStore<T>(ask: (patienceMs: number | undefined) => Promise<T>): Promise<T> {
  const request = requests.getStore()
  if (request === undefined) return ask(undefined)
  const started = performance.now()
  try {
    return await ask(Math.max(0, PATIENCE_MS - request.waitedMs))
  } finally {
    request.waitedMs += performance.now() - started
  }
}

/** For work that a request starts and does not wait for. */
export function outsideOfRequests<T>(work: () => T): T {
  return requests.exit(work)
}
