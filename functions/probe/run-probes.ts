import { addressOf, type ProbePlan } from '../../src/domain/probe/keep/probe-plan.ts'
import type { Finding } from '../../src/domain/probe/read/finding.ts'
import type { Fetcher } from '../net/http-client.ts'
import type { Resolver } from '../ports/resolver.ts'
import { type PackageProber, probeHandshake } from './probe-handshake.ts'

/** Hosts in a row of which nothing was heard; so many at once is more likely our network than them. */
const MANY_SILENT = 20

/** In a run that heard nothing from anybody, fewer are enough. */
const ALL_SILENT = 3

/** What our own network being down looks like: nobody answers, no name is found. */
const SILENT = new Set(['timeout', 'no_such_host', 'own_network', 'dns'])

export interface ProbeRunOptions {
  /** In the order they should be asked. */
  plans: readonly ProbePlan[]
  client: Fetcher
  resolver: Pick<Resolver, 'addresses'>
  probePackage?: PackageProber
  /** Probes under way at once, over all hosts. */
  concurrency: number
  /** Milliseconds since the epoch. */
  now: () => number
  /** Told before a listing is asked; false leaves it out. */
  begin?: (plan: ProbePlan) => Promise<boolean>
  /** Keeps one result, before the run goes on. */
  onResult: (plan: ProbePlan, finding: Finding, at: number) => Promise<void>
  /** Ends the run early: what is under way is finished, nothing new is begun. */
  signal?: AbortSignal
}

/**
 * Probes the listings: one at a time a host (name and port), at most four an address, each result
 * kept as soon as it is known, so that a run that is killed begins again where it was.
 */
export async function runProbes(options: ProbeRunOptions) {
  const { plans, concurrency, onResult, signal } = options
  // A host's plans are asked one after another, in turns with those of other hosts.
  const lanes = [...Map.groupBy(plans, hostOf).values()]
  const enterAddress = createAddressGate()
  const witness = createWitness<ProbePlan>(onResult)
  /** `heldBack` were left out because their host asked to be left alone. */
  const tally = { probed: 0, heldBack: 0 }
  let isOver = false
  const ask = async (lane: ProbePlan[], plan: ProbePlan) => {
    const leave = await enterAddress(await addressKeyOf(plan, options.resolver))
    const { client, now, probePackage, begin } = options
    if (begin === undefined || (await begin(plan))) {
      const finding = await probeHandshake(plan.handshake, client, now, probePackage).finally(leave)
      tally.probed += 1
      await witness.hear(plan, finding, now())
      // It asked to be left alone: the rest of it waits for another run.
      if ((finding.retryAfterS ?? 0) > 0) tally.heldBack += lane.splice(0).length
    } else leave()
    if (lane.length > 0) lanes.push(lane)
  }
  // Who finds no lane may go: each lane that is left has somebody at work on it.
  const work = async () => {
    for (let lane = lanes.shift(); lane !== undefined; lane = lanes.shift()) {
      const plan = lane.shift()
      if (plan === undefined || isOver || signal?.aborted) return
      await ask(lane, plan).catch((error: unknown) => {
        isOver = true
        throw error
      })
    }
  }
  // What is under way ends before a fault does: nothing may be asked or written behind its back.
  const ends = await Promise.allSettled(Array.from({ length: Math.max(1, concurrency) }, work))
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return { ...tally, isOffline: await witness.end() }
}

/** The guard looks names up and judges addresses itself, at each connection; this only counts. */
async function addressKeyOf(plan: ProbePlan, resolver: ProbeRunOptions['resolver']) {
  const host = urlOf(plan)?.hostname.replace(/^\[(.*)\]$/, '$1')
  if (host === undefined) return null
  try {
    const [first] = await resolver.addresses(host)
    return first?.address ?? host
  } catch {
    return host
  }
}

/** Name and port; empty where nobody is asked. */
export function hostOf(plan: ProbePlan): string {
  return urlOf(plan)?.host ?? ''
}

function urlOf({ handshake }: ProbePlan): URL | null {
  return URL.parse(addressOf(handshake) ?? '')
}

/** Holds silent results back until somebody is heard: without a network all sellers seem dead. */
function createWitness<Plan>(keep: (plan: Plan, finding: Finding, at: number) => Promise<void>) {
  let held: { plan: Plan; finding: Finding; at: number }[] = []
  let hasHeard = false
  const release = async (toBelieved: (finding: Finding) => Finding) => {
    for (const { plan, finding, at } of held.splice(0)) await keep(plan, toBelieved(finding), at)
  }
  return {
    async hear(plan: Plan, finding: Finding, at: number): Promise<void> {
      if (finding.isLocal) return keep(plan, finding, at)
      held.push({ plan, finding, at })
      if (finding.failure !== undefined && SILENT.has(finding.failure)) return
      // A listing that nobody asked says nothing about the network.
      if (finding.outcome === 'unprobeable' && finding.status === undefined) return
      hasHeard = true
      await release((each) => each)
    },
    /** @returns true where nobody was heard at the end: what was held is then nobody's fault. */
    async end(): Promise<boolean> {
      const silent = held.filter(({ finding }) => SILENT.has(finding.failure ?? ''))
      const isOffline = silent.length >= (hasHeard ? MANY_SILENT : ALL_SILENT)
      await release((finding) =>
        isOffline && SILENT.has(finding.failure ?? '')
          ? { ...finding, outcome: 'unknown', saw: 'nobody was heard: our own network' }
          : finding,
      )
      held = []
      return isOffline
    },
  }
}

/** Probes at one address at once, whatever the names that lead there. */
const MOST_AN_ADDRESS = 4

/** Waits for one of an address's places; call what it gives to leave. */
function createAddressGate(): (address: string | null) => Promise<() => void> {
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
