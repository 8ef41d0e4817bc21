import * as v from 'valibot'
import { normalizePayout } from '../../listing/caip-account.ts'
import { newestSignIn } from '../../trust/access.ts'
import { type Evidence, type Probe, ProbeSchema } from '../../trust/evidence.ts'
import { type Interface, InterfaceSchema } from '../../trust/interface.ts'
import { present } from '../../wire/parse-json.ts'
import type { Finding, PaymentTerm, Sight } from '../read/finding.ts'
import { addDrift } from './drift.ts'
import { KEEP_MS, mergeOperations, toSaid } from './merge-operations.ts'
import type { ProbePlan } from './probe-plan.ts'

const MAX_PAYOUTS = 20

/**
 * Adds a probe to the last 90 days, to the seen interface and to what changed. Anything it did not
 * see stays as it was.
 */
export function mergeFinding(
  evidence: Evidence,
  finding: Finding,
  plan: Pick<ProbePlan, 'declared'>,
  at: string,
): Evidence {
  const { sight, signIn } = finding
  const { protocol, outcome, ms, version } = finding
  const record = { at, protocol, outcome, ...present({ ms, version }), ...toSaid(finding) }
  const probes = keepProbes([...(evidence.probes ?? []), v.parse(ProbeSchema, record)], at)
  const signedIn = signIn && { sign_in: { at, ...signIn } }
  if (sight === undefined) return { ...evidence, probes, ...signedIn }
  const seen = cutToBounds(mergeSight(evidence.interface, { ...finding, sight }, at))
  const { drift: known = [], ...rest } = evidence
  const drift = seen === null ? known : addDrift(known, evidence.interface, seen, plan.declared, at)
  return {
    ...rest,
    probes,
    ...signedIn,
    ...(seen !== null && { interface: seen }),
    ...(drift.length > 0 && { drift }),
  }
}

/** Sellers may describe more than is kept: then the inputs of calls are omitted and marked so. */
function cutToBounds(merged: MergedInterface): Interface | null {
  const cut = {
    ...merged,
    operations: merged.operations?.map(({ params: _params, body: _body, ...rest }) => rest),
    truncated: true,
  }
  for (const each of [merged, cut]) {
    const parsed = v.safeParse(InterfaceSchema, each)
    if (parsed.success) return parsed.output
  }
  return null
}

/** Sorted by time, each time once, none older than we keep. */
function keepProbes(probes: readonly Probe[], at: string): Probe[] {
  const oldest = Date.parse(at) - KEEP_MS
  const byMoment = new Map(probes.map((probe) => [`${probe.at} ${probe.protocol}`, probe]))
  return [...byMoment.values()]
    .filter((probe) => Date.parse(probe.at) >= oldest)
    .sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
}

type MergedInterface = Record<string, unknown> & Pick<Interface, 'operations'>

function mergeSight(
  old: Interface | undefined,
  finding: Finding & { sight: Sight },
  at: string,
): MergedInterface {
  const { tools, skills, server, from } = finding.sight
  const others = (finding.others ?? []).flatMap((other) => other.finding.sight ?? [])
  const sights = [finding.sight, ...others]
  const terms = sights.flatMap((each) => each.terms ?? [])
  const payouts = mergePayouts(old?.payouts ?? [], terms, at)
  const operations = mergeOperations(old, finding, at)
  const isOfCalls = from === 'x402' || from === 'mpp' || from === 'http'
  // Operations from a document of the seller's keep that source.
  const isTheirs = isOfCalls && (old?.from === 'openapi' || old?.from === 'catalog')
  return {
    at,
    from: isTheirs ? old?.from : from,
    ...(operations.length > 0 && { operations }),
    ...present({
      tools: tools ?? (isOfCalls ? old?.tools : undefined),
      skills: skills ?? (isOfCalls ? old?.skills : undefined),
      // Without empty members.
      server: server
        ? Object.fromEntries(Object.entries(server).filter(([, value]) => value !== ''))
        : old?.server,
    }),
    ...(payouts.length > 0 && { payouts }),
    ...(sights.some(({ truncated }) => truncated) && { truncated: true }),
  }
}

/** Newest first; an address seen again gets its new date. */
function mergePayouts(
  old: NonNullable<Interface['payouts']>,
  terms: readonly PaymentTerm[],
  at: string,
): NonNullable<Interface['payouts']> {
  const named = terms.flatMap(({ payout, network }) =>
    payout === null || network === null ? [] : [{ payout, network, seen_at: at }],
  )
  const oldest = Date.parse(at) - KEEP_MS
  const recent = old.filter(({ seen_at }) => Date.parse(seen_at) >= oldest)
  const byAddress = new Map(
    [...recent, ...named].map((each) => [normalizePayout(each.payout), each]),
  )
  return [...byAddress.values()]
    .sort((a, b) =>
      a.seen_at === b.seen_at ? (a.payout < b.payout ? -1 : 1) : a.seen_at < b.seen_at ? 1 : -1,
    )
    .slice(0, MAX_PAYOUTS)
}

/** Probes of both, and the interface and drift of the newer one. */
export function combineEvidence(file: Evidence, ledger: Evidence | undefined): Evidence {
  if (ledger === undefined) return file
  const probes = [...(file.probes ?? []), ...(ledger.probes ?? [])]
  const lastAt = (evidence: Evidence) => evidence.interface?.at ?? ''
  const newer = lastAt(ledger) > lastAt(file) ? ledger : file
  const newest = probes.map(({ at }) => at).reduce((a, b) => (a > b ? a : b), '')
  const { interface: seen, drift } = newer
  const sign_in = newestSignIn([file, ledger])
  return {
    ...file,
    ...(probes.length > 0 && { probes: keepProbes(probes, newest) }),
    ...present({ interface: seen, sign_in, drift }),
  }
}
