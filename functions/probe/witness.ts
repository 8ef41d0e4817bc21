import type { Finding } from '../../src/domain/probe/read/finding.ts'

/** Hosts in a row of which nothing was heard; so many at once is more likely our network than them. */
const MANY_SILENT = 20

/** In a run that heard nothing from anybody, fewer are enough. */
const ALL_SILENT = 3

/** What our own network being down looks like: nobody answers, no name is found. */
const SILENT = new Set(['timeout', 'no_such_host', 'own_network', 'dns'])

/**
 * Holds silent results back until somebody else is heard. A machine without a network would else
 * find every seller dead, and that would be written down.
 *
 * @param keep takes each result once, in the order they could be believed
 */
export function createWitness<Plan>(
  keep: (plan: Plan, finding: Finding, at: number) => Promise<void>,
) {
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
