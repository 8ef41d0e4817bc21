import { type JsonRpc, RpcError } from '../settlements/json-rpc.ts'
import { MeterStopped } from './meter-world.ts'

/** Milliseconds between two requests to one node: ten a second, what free plans allow. */
const GAP_MS = 100
/** Pauses after a node said that it is busy; then the run ends, and goes on with the next one. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000]

export interface PacedRpc extends JsonRpc {
  /** Requests made so far. */
  readonly requests: number
}

export type Wait = (milliseconds: number) => Promise<void>

/** One node, asked one thing at a time and not too fast, and nothing more once `signal` says stop. */
export function paceRpc(rpc: JsonRpc, wait: Wait, signal: AbortSignal): PacedRpc {
  let requests = 0
  return {
    get requests() {
      return requests
    },
    async call(method, params, schema) {
      for (let tries = 0; ; tries += 1) {
        if (requests > 0) await orStop(wait(GAP_MS), signal)
        requests += 1
        try {
          return await orStop(rpc.call(method, params, schema), signal)
        } catch (error) {
          const pause = PAUSES_MS[tries]
          if (!(error instanceof RpcError && error.isBusy) || pause === undefined) throw error
          await orStop(wait(pause), signal)
        }
      }
    },
  }
}

/** A server that is stopped waits for no node. @throws MeterStopped when `signal` came first */
async function orStop<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  if (signal.aborted) throw new MeterStopped('asked to stop')
  const stop = Promise.withResolvers<never>()
  const onAbort = () => stop.reject(new MeterStopped('asked to stop'))
  signal.addEventListener('abort', onAbort)
  // The loser of the race may fail later, when nobody listens.
  work.catch(() => {})
  try {
    return await Promise.race([work, stop.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
