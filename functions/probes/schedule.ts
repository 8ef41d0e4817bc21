import * as v from 'valibot'
import type { Finding, ProbeOutcome } from '../../src/domain/probe/finding.ts'
import { toFacts } from '../../src/domain/probe/mcp.ts'
import { mergeFinding } from '../../src/domain/probe/merge.ts'
import type { Handshake, ProbePlan } from '../../src/domain/probe/plan.ts'
import { type Evidence, EvidenceSchema, type Probe } from '../../src/domain/trust/evidence.ts'
import { largestOf, parseJson } from '../../src/domain/wire/json.ts'
import { HOUR_MS } from '../../src/domain/wire/shapes.ts'
import type { Parts } from '../features/feature.ts'
import { createHttpClient, type Fetcher } from '../net/http-client.ts'
import type { Resolver } from '../net/resolver.ts'
import { createJobQueue, HOLD_MS } from '../store/jobs.ts'
import type { Store } from '../store/store.ts'
import { probeHandshake } from './handshake.ts'

const STALE_MS = 24 * HOUR_MS

/** Time limit for one turn: other chores wait until it ends, and the next turn continues the work. */
const CHORE_TIME_LIMIT_MS = 50 * 60_000

/** How many hosts a server leases at once, and how many listings it probes at once. */
const HOSTS_AT_ONCE = 50
const AT_ONCE = 8

type ProbeChoreParts = Pick<Parts, 'config' | 'resolver' | 'sign' | 'clock' | 'log'> & {
  ledger: Pick<Parts['ledger'], 'store'>
  plans: () => Promise<readonly ProbePlan[]>
  /** Time without a heartbeat after which others may take over this server's hosts. */
  holdMs?: number
}

/** `PROBE=on`: probes due listings, for the next build. One server at a time probes a host. */
export async function probeAsChore(parts: ProbeChoreParts, signal: AbortSignal): Promise<void> {
  const { config, resolver, sign, clock, holdMs = HOLD_MS } = parts
  const { store } = parts.ledger
  const now = () => clock.now()
  // With SQLite only one server uses the state, so this server is alone.
  const isAlone = store.dialect === 'sqlite'
  const queue = createJobQueue(store, { name: 'probe', now, isAlone, holdMs })
  const byHost = Map.groupBy(await parts.plans(), (plan) => hostOf(plan) || 'nobody')
  await queue.add([...byHost.keys()], await findNewHosts(store, byHost))
  await using client = createHttpClient('probe', { config, resolver, sign })
  const end = now() + CHORE_TIME_LIMIT_MS
  while (!signal.aborted && now() < end) {
    const hosts = await queue.take(HOSTS_AT_ONCE)
    if (hosts.length === 0) return
    const isGone = (host: string) => !byHost.has(host)
    await queue.finish(hosts.filter(isGone), null)
    const known = hosts.filter((host) => !isGone(host))
    const plans = known.flatMap((host) => byHost.get(host) ?? [])
    await queue.finish(
      known,
      await probeHosts(parts, { queue, hosts: known, plans, client, signal }),
    )
  }
}

type JobQueue = ReturnType<typeof createJobQueue>

interface HostsRun extends Pick<ProbeContentOptions, 'plans' | 'client'> {
  queue: JobQueue
  hosts: readonly string[]
  signal: AbortSignal
}

/** @returns the time at which the hosts are due again */
async function probeHosts(
  { ledger, resolver, clock, log, holdMs = HOLD_MS }: ProbeChoreParts,
  { queue, hosts, signal, ...run }: HostsRun,
): Promise<number> {
  const now = () => clock.now()
  const lost = new AbortController()
  const holding = setInterval(() => {
    // The next holder continues from the stored state.
    const onHeld = (isHeld: boolean) => isHeld || lost.abort()
    queue.hold(hosts).then(onHeld, (error) => log.error('probe.hold', { reason: String(error) }))
  }, holdMs / 5)
  const either = AbortSignal.any([signal, lost.signal])
  const { probed, held_back, outcomes, is_offline } = await probeContent({
    ...run,
    evidence: createEvidenceRows(ledger.store, now, STALE_MS),
    staleMs: STALE_MS,
    concurrency: AT_ONCE,
    resolver,
    now,
    signal: either,
  }).finally(() => clearInterval(holding))
  if (probed > 0) log.info('probe.done', { probed, held_back, is_offline, ...outcomes })
  // The next process that leases the host does the rest.
  if (either.aborted) return now()
  return now() + (held_back > 0 ? HOUR_MS : STALE_MS)
}

/** Hosts with a listing that was never probed. */
async function findNewHosts({ db }: Store, byHost: ReadonlyMap<string, readonly ProbePlan[]>) {
  const rows = await db.selectFrom('probe_evidence').select('listing_id').execute()
  const known = new Set(rows.map(({ listing_id }) => listing_id))
  const isNew = (plans: readonly ProbePlan[]) => plans.some(({ id }) => !known.has(id))
  return new Set([...byHost].flatMap(([host, plans]) => (isNew(plans) ? [host] : [])))
}

/** Where results are kept: in files of the content, or in a server's ledger. */
export interface EvidenceKeeper {
  /** Empty if the listing has not been probed yet. */
  read(id: string): Promise<Evidence>
  write(id: string, evidence: Evidence): Promise<void>
  /** Called before a listing is probed; false if it was probed within the day. */
  begin?(id: string): Promise<boolean>
}

export interface ProbeContentOptions {
  plans: readonly ProbePlan[]
  client: Fetcher
  resolver: Pick<Resolver, 'addresses'>
  /** Concurrent probes across all hosts. */
  concurrency: number
  /** Milliseconds since the epoch. */
  now: () => number
  /** Ends the run early: running probes finish, and no new ones begin. */
  signal?: AbortSignal
  /** Leaves out listings probed less than this long ago (milliseconds). */
  staleMs: number
  limit?: number
  /** Keeps no sellers' texts, for content whose publisher has no right to those texts. */
  factsOnly?: boolean
  evidence: EvidenceKeeper
  /** Called with each result after it is written. */
  onProbe?: (id: string, finding: Finding, at: string) => void
}

/** Probes listings and writes their evidence, one by one, as results come in. */
export async function probeContent(options: ProbeContentOptions) {
  const { evidence: keeper, plans, now, staleMs, limit, onProbe } = options
  const started = now()
  const candidates: Candidate[] = []
  for (const plan of plans) candidates.push(toCandidate(plan, await keeper.read(plan.id)))
  const due = orderByNeed(candidates, { now: started, staleMs })
  const outcomes: Partial<Record<ProbeOutcome, number>> = {}
  const tally = await runProbes(options, due.slice(0, limit), async (plan, finding, moment) => {
    const at = toInstant(moment)
    const evidence = await keeper.read(plan.id)
    const kept = options.factsOnly === true ? toFacts(finding) : finding
    await keeper.write(plan.id, mergeFinding(evidence, kept, plan, at))
    outcomes[finding.outcome] = (outcomes[finding.outcome] ?? 0) + 1
    onProbe?.(plan.id, finding, at)
  })
  return {
    listings: plans.length,
    /** Listings probed recently, or recorded as having no endpoint that can be probed. */
    not_due: plans.length - due.length,
    probed: tally.probed,
    held_back: tally.heldBack,
    outcomes,
    is_offline: tally.isOffline,
    seconds: Math.round((now() - started) / 100) / 10,
  }
}

/** Whole seconds, because fractions would only make the files longer. */
export function toInstant(moment: number): string {
  return new Date(moment).toISOString().replace(/\.\d{3}Z$/, 'Z')
}

/** Evidence as rows of the ledger: a server may have no content folder. */
export function createEvidenceRows(
  { db }: Store,
  now: () => number,
  staleMs: number,
): Required<EvidenceKeeper> {
  return {
    // Written before the probe: if this server is killed, no other server repeats the probe.
    async begin(id) {
      const requested_at = now()
      const begun = await db
        .insertInto('probe_evidence')
        .values({ listing_id: id, evidence: '{}', probed_at: requested_at, asked_at: requested_at })
        .onConflict((conflict) =>
          conflict
            .column('listing_id')
            .doUpdateSet({ asked_at: requested_at })
            .where(({ or, eb }) =>
              or([
                eb('probe_evidence.asked_at', 'is', null),
                eb('probe_evidence.asked_at', '<=', requested_at - staleMs),
              ]),
            ),
        )
        .returning('listing_id')
        .execute()
      return begun.length > 0
    },
    async read(id) {
      const row = await db
        .selectFrom('probe_evidence')
        .select('evidence')
        .where('listing_id', '=', id)
        .executeTakeFirst()
      return row === undefined ? {} : toEvidence(row.evidence)
    },
    async write(id, evidence) {
      const row = { evidence: JSON.stringify(evidence), probed_at: now() }
      await db
        .insertInto('probe_evidence')
        .values({ listing_id: id, asked_at: null, ...row })
        .onConflict((conflict) => conflict.column('listing_id').doUpdateSet(row))
        .execute()
    },
  }
}

export async function readProbeEvidence({ db }: Store): Promise<Map<string, Evidence>> {
  const rows = await db
    .selectFrom('probe_evidence')
    .select(['listing_id', 'evidence'])
    .orderBy('listing_id')
    .execute()
  return new Map(rows.map(({ listing_id, evidence }) => [listing_id, toEvidence(evidence)]))
}

/** If this version cannot read evidence from an earlier version, the listing is treated as not probed yet. */
function toEvidence(text: string): Evidence {
  const parsed = v.safeParse(EvidenceSchema, parseJson(text))
  return parsed.success ? parsed.output : {}
}

/** Silent hosts in a row: this many suggest a fault in our network rather than at the hosts. */
const MANY_SILENT = 20

/** In a run that has had no answer yet, this many silent hosts are enough. */
const ALL_SILENT = 3

/** The signs that our own network is down: nobody answers, no name resolves. */
const SILENT = new Set(['timeout', 'no_such_host', 'own_network', 'dns'])

/** Stores one result, before the run goes on. */
type KeepResult = (plan: ProbePlan, finding: Finding, at: number) => Promise<void>

/**
 * Probes the listings: one at a time per host (name and port), at most four per address, each
 * result stored as soon as it is known, so that a killed run resumes where it was.
 * @param plans the plans in probing order
 */
async function runProbes(
  { client, resolver, concurrency, now, signal, evidence }: ProbeContentOptions,
  plans: readonly ProbePlan[],
  keep: KeepResult,
) {
  // A host's plans run one after another, and the hosts take turns.
  const lanes = [...Map.groupBy(plans, hostOf).values()]
  const enterAddress = createAddressGate()
  const buffer = createSilenceBuffer(keep)
  /** `heldBack` counts plans left out because their host sent `Retry-After`. */
  const tally = { probed: 0, heldBack: 0 }
  let isOver = false
  const ask = async (lane: ProbePlan[], plan: ProbePlan) => {
    const leave = await enterAddress(await addressKeyOf(plan, resolver))
    if ((await evidence.begin?.(plan.id)) ?? true) {
      const finding = await probeHandshake(plan.handshake, client, now).finally(leave)
      tally.probed += 1
      await buffer.hear(plan, finding, now())
      // The host sent `Retry-After`: its other plans wait for another run.
      if ((finding.retryAfterS ?? 0) > 0) tally.heldBack += lane.splice(0).length
    } else leave()
    if (lane.length > 0) lanes.push(lane)
  }
  // A worker without a lane may stop: each remaining lane has its own worker.
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
  // Running probes end before an error is thrown: nothing may be sent or written after the error.
  const ends = await Promise.allSettled(Array.from({ length: Math.max(1, concurrency) }, work))
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return { ...tally, isOffline: await buffer.end() }
}

/** A key used only to count: the guard resolves names and judges addresses at each connection. */
async function addressKeyOf(plan: ProbePlan, resolver: Pick<Resolver, 'addresses'>) {
  const host = urlOf(plan)?.hostname.replace(/^\[(.*)\]$/, '$1')
  if (host === undefined) return null
  try {
    const [first] = await resolver.addresses(host)
    return first?.address ?? host
  } catch {
    return host
  }
}

/** Name and port; empty if nothing is probed. */
function hostOf(plan: ProbePlan): string {
  return urlOf(plan)?.host ?? ''
}

function urlOf({ handshake }: ProbePlan): URL | null {
  return URL.parse(addressOf(handshake) ?? '')
}

/** Holds silent results back until somebody answers: without a network all sellers seem dead. */
function createSilenceBuffer(keep: KeepResult) {
  let held: { plan: ProbePlan; finding: Finding; at: number }[] = []
  let hasHeard = false
  const release = async (toBelieved: (finding: Finding) => Finding) => {
    for (const { plan, finding, at } of held.splice(0)) await keep(plan, toBelieved(finding), at)
  }
  return {
    async hear(plan: ProbePlan, finding: Finding, at: number): Promise<void> {
      held.push({ plan, finding, at })
      if (finding.failure !== undefined && SILENT.has(finding.failure)) return
      // A listing that was not probed is no evidence about the network.
      if (finding.outcome === 'unprobeable' && finding.status === undefined) return
      hasHeard = true
      await release((each) => each)
    },
    /** @returns true if nobody answered until the end; then no seller is blamed */
    async end(): Promise<boolean> {
      const silent = held.filter(({ finding }) => SILENT.has(finding.failure ?? ''))
      const isOffline = silent.length >= (hasHeard ? MANY_SILENT : ALL_SILENT)
      await release((finding) =>
        isOffline && SILENT.has(finding.failure ?? '')
          ? { ...finding, outcome: 'unknown', saw: 'no host answered: our network seems down' }
          : finding,
      )
      held = []
      return isOffline
    },
  }
}

/** Concurrent probes at one address, whatever names lead there. */
const MOST_AN_ADDRESS = 4

/** Waits for one of an address's slots; returns a function that frees it. */
function createAddressGate(): (address: string | null) => Promise<() => void> {
  const inside = new Map<string, number>()
  const outside = new Map<string, (() => void)[]>()
  return async (address) => {
    if (address === null) return () => {}
    const count = inside.get(address) ?? 0
    if (count >= MOST_AN_ADDRESS) {
      const line = outside.get(address) ?? []
      outside.set(address, line)
      // A request that ends passes its slot to the next one.
      await new Promise<void>((enter) => line.push(enter))
    } else inside.set(address, count + 1)
    return () => {
      const next = outside.get(address)?.shift()
      if (next === undefined) inside.set(address, (inside.get(address) ?? 1) - 1)
      else next()
    }
  }
}

/** The address probed first; null if there is none. */
export function addressOf(handshake: Handshake): string | null {
  if ('requests' in handshake) return handshake.requests[0].request.url
  if ('url' in handshake) return handshake.url
  return handshake.kind === 'a2a' ? (handshake.urls[0] ?? null) : null
}

type Candidate = ReturnType<typeof toCandidate>

/**
 * @returns `lastAt` in milliseconds since the epoch, null if never probed; `notBefore`: the end of
 * the seller's `Retry-After`
 */
export function toCandidate(plan: ProbePlan, evidence: Pick<Evidence, 'probes' | 'interface'>) {
  const { probes = [], interface: seen } = evidence
  const times = probes.map(({ at }) => Date.parse(at))
  const lastAt = times.length === 0 ? null : largestOf(times)
  const last = probes.filter(({ at }) => Date.parse(at) === lastAt)
  // Each operation's answer may have had its own `Retry-After`, counted from that answer's time.
  const answers = (seen?.operations ?? []).flatMap(({ seen: answer }) =>
    answer === undefined ? [] : [{ ...answer, at: answer.at ?? seen?.at ?? '' }],
  )
  const waits = [...last, ...answers].map(
    (answer) => (Date.parse(answer.at) || 0) + waitOf(answer) * 1000,
  )
  return { plan, lastAt, notBefore: largestOf(waits, 0) }
}

/**
 * Sorts listings by their last probe, never-probed ones first; `Retry-After` is honoured. A listing without
 * an endpoint is recorded once. @param staleMs leaves out listings probed within this time; 0 leaves out none
 */
export function orderByNeed(
  candidates: readonly Candidate[],
  { now, staleMs }: { now: number; staleMs: number },
): ProbePlan[] {
  return candidates
    .filter(({ plan, lastAt, notBefore }) => {
      if (lastAt === null) return true
      if (plan.handshake.kind === 'none') return false
      return now - lastAt >= staleMs && now >= notBefore
    })
    .toSorted((a, b) => {
      const [left, right] = [a.lastAt ?? -1, b.lastAt ?? -1]
      return left === right ? (a.plan.id < b.plan.id ? -1 : 1) : left - right
    })
    .map(({ plan }) => plan)
}

/** Seconds to wait, as the last answer demanded: parsed from the text that `judgeStatus` wrote. */
function waitOf({ outcome, saw = '' }: Pick<Probe, 'outcome' | 'saw'>): number {
  if (outcome !== 'unknown') return 0
  return Number(/, retry after (\d{1,6}) s$/.exec(saw)?.[1] ?? 0)
}
