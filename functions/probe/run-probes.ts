import { addressOf, type ProbePlan } from '../../src/domain/probe/keep/probe-plan.ts'
import type { Finding } from '../../src/domain/probe/read/finding.ts'
import type { Resolver } from '../ports/resolver.ts'
import type { Asker } from './ask.ts'
import { createHostQueue, type HostQueue } from './host-queue.ts'
import { type PackageProber, shakeHands } from './shake-hands.ts'

/** Hosts in a row of which nothing was heard; so many at once is more likely our network than them. */
const MANY_SILENT = 20

/** In a run that heard nothing from anybody, fewer are enough. */
const ALL_SILENT = 3

/** What our own network being down looks like: nobody answers, no name is found. */
const SILENT = new Set(['timeout', 'no_such_host', 'own_network', 'dns'])

export interface ProbeRunOptions {
  /** In the order they should be asked. */
  plans: readonly ProbePlan[]
  asker: Pick<Asker, 'ask'>
  resolver: Pick<Resolver, 'addresses'>
  /** Runs packages; without it none is run. */
  probePackage?: PackageProber
  /** Probes under way at once, over all hosts. */
  concurrency: number
  /** Milliseconds since the epoch. */
  now: () => number
  /** Keeps one result, before the run goes on. */
  onResult: (plan: ProbePlan, finding: Finding, at: number) => Promise<void>
  /** Ends the run early: what is under way is finished, nothing new is begun. */
  signal?: AbortSignal
}

export interface ProbeRunTally {
  probed: number
  /** Left out of this run because their host asked to be left alone. */
  heldBack: number
  /** No host said anything: it was our network, and nothing counts against anybody. */
  isOffline: boolean
}

/**
 * Probes the listings: one at a time a host (name and port), at most four an address, each result
 * kept as soon as it is known, so that a run that is killed begins again where it was.
 */
export async function runProbes(options: ProbeRunOptions): Promise<ProbeRunTally> {
  const { plans, concurrency, onResult, signal } = options
  const queue = createHostQueue(plans, (plan) => hostOf(plan))
  const witness = createWitness<ProbePlan>(onResult)
  let probed = 0
  const work = async () => {
    for (let turn = await queue.next(); turn !== null; turn = await queue.next()) {
      if (signal?.aborted) return queue.close()
      try {
        const finding = await probe(turn.plan, queue, options)
        probed += 1
        await witness.hear(turn.plan, finding, options.now())
        queue.done(turn, (finding.retryAfterS ?? 0) > 0)
      } catch (error) {
        queue.close()
        throw error
      }
    }
  }
  // What is under way ends before a fault does: nothing may be asked or written behind its back.
  const ends = await Promise.allSettled(Array.from({ length: Math.max(1, concurrency) }, work))
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  const isOffline = await witness.end()
  return { probed, heldBack: queue.dropped(), isOffline }
}

async function probe(
  plan: ProbePlan,
  queue: HostQueue,
  { asker, resolver, now, probePackage }: ProbeRunOptions,
): Promise<Finding> {
  const leave = await queue.enterAddress(await addressKeyOf(plan, resolver))
  try {
    return await shakeHands(plan.handshake, asker, now, probePackage)
  } finally {
    leave()
  }
}

/** The guard looks names up and judges addresses itself, at each connection; this only counts. */
async function addressKeyOf(
  plan: ProbePlan,
  resolver: ProbeRunOptions['resolver'],
): Promise<string | null> {
  const host = hostnameOf(plan)
  if (host === null) return null
  try {
    const [first] = await resolver.addresses(host)
    return first?.address ?? host
  } catch {
    return host
  }
}

function hostOf({ handshake }: ProbePlan): string {
  return URL.parse(addressOf(handshake) ?? '')?.host ?? ''
}

function hostnameOf({ handshake }: ProbePlan): string | null {
  const hostname = URL.parse(addressOf(handshake) ?? '')?.hostname
  return hostname === undefined ? null : hostname.replace(/^\[(.*)\]$/, '$1')
}

/**
 * Holds silent results back until somebody else is heard. A machine without a network would else
 * find every seller dead, and that would be written down.
 *
 * @param keep takes each result once, in the order they could be believed
 */
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
