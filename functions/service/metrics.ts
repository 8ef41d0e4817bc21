import type { ServerResponse } from 'node:http'

/** Counters of a running service. None of them names a client, a listing or an address. */
export interface Metrics {
  /** Counts one request of our own server and times it until its answer was sent. */
  watch(method: string, path: string, res: ServerResponse): void
  /** How a call through the relay ended: `seller_2xx` … `seller_5xx`, `seller_402`, or our problem's code. */
  relayed(outcome: string): void
  /** Prometheus text; null where metrics are off. */
  expose: (() => Promise<Exposition>) | null
}

interface Exposition {
  contentType: string
  text: string
}

export const NO_METRICS: Metrics = { watch: () => {}, relayed: () => {}, expose: null }
