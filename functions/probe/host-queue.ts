import type { ProbePlan } from '../../src/domain/probe/keep/probe-plan.ts'

/** Probes at one address at once, whatever the names that lead there. */
const MOST_AN_ADDRESS = 4

export interface Turn {
  host: string
  plan: ProbePlan
}

/** Hands out plans, one at a time a host. */
export interface HostQueue {
  /** The next plan whose host is free; waits where all are busy, null when nothing is left. */
  next(): Promise<Turn | null>
  /** @param isDropped the host asked to be left alone: the rest of it waits for another run */
  done(turn: Turn, isDropped: boolean): void
  /** Waits for one of the address's places; call what it gives to leave. */
  enterAddress(address: string | null): Promise<() => void>
  dropped(): number
  /** Nothing more is handed out. */
  close(): void
}

/** @param hostOf what is asked one at a time; plans without a host have '' and never wait. */
export function createHostQueue(
  plans: readonly ProbePlan[],
  hostOf: (plan: ProbePlan) => string,
): HostQueue {
  const byHost = Map.groupBy(plans, hostOf)
  const ready = [...byHost.keys()]
  const waiting: ((turn: Turn | null) => void)[] = []
  let busy = 0
  let dropped = 0
  const takeReady = (): Turn | null => {
    const host = ready.shift()
    const plan = host === undefined ? undefined : byHost.get(host)?.shift()
    if (host === undefined || plan === undefined) return null
    busy += 1
    return { host, plan }
  }
  const serve = () => {
    while (waiting.length > 0) {
      const turn = takeReady()
      if (turn === null && busy > 0) return
      waiting.shift()?.(turn)
    }
  }
  const gate = createAddressGate()
  return {
    next: () =>
      new Promise((resolve) => {
        waiting.push(resolve)
        serve()
      }),
    done({ host }, isDropped) {
      busy -= 1
      const rest = byHost.get(host) ?? []
      if (isDropped) dropped += rest.splice(0).length
      else if (rest.length > 0) ready.push(host)
      serve()
    },
    enterAddress: gate,
    dropped: () => dropped,
    close() {
      ready.length = 0
      busy -= 1
      serve()
    },
  }
}

function createAddressGate(): HostQueue['enterAddress'] {
  const inside = new Map<string, number>()
  const outside = new Map<string, (() => void)[]>()
  return async (address) => {
    if (address === null) return () => {}
    const count = inside.get(address) ?? 0
    if (count >= MOST_AN_ADDRESS) {
      const line = outside.get(address) ?? []
      outside.set(address, line)
      // A request that ends hands its place to the next.
      await new Promise<void>((enter) => line.push(enter))
    } else inside.set(address, count + 1)
    return () => {
      const next = outside.get(address)?.shift()
      if (next === undefined) inside.set(address, (inside.get(address) ?? 1) - 1)
      else next()
    }
  }
}
