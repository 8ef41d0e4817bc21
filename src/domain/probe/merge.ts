import * as v from 'valibot'
import { normalizePayout } from '../listing/networks.ts'
import { toOffer, toPrice } from '../listing/offers.ts'
import { toOperationKey } from '../operation/is-at-address.ts'
import { newestSignIn } from '../trust/access.ts'
import { type Evidence, type Probe, ProbeSchema } from '../trust/evidence.ts'
import { type Interface, InterfaceSchema, type SeenOperation } from '../trust/interface.ts'
import { MAX_PAY_TO, type SeenAnswer } from '../trust/seen-answer.ts'
import { present } from '../wire/json.ts'
import { addDrift } from './drift.ts'
import { type Finding, KEEP_MS, type PaymentTerm, type Sight } from './finding.ts'
import type { ProbePlan } from './plan.ts'

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
  const record = { at, protocol, outcome, ...present({ ms, version }), ...toStated(finding) }
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

const MAX_OFFERS = 20

/** Above this a price of one call is a decoy or a ceiling (USD): it is recorded, but not as a price. */
const MAX_PRICE_USD = 1000
const MAX_SEEN_USD = 100_000

/** Outcomes that say nothing about the earlier terms: no answer, or one from a proxy in front. */
const SILENT: ReadonlySet<Finding['outcome']> = new Set(['dead', 'unknown', 'gated'])

type SeenOperations = NonNullable<Interface['operations']>

/**
 * Probed operations with answers; the rest unchanged. Sorted by address, so runs change few lines.
 */
function mergeOperations(old: Interface | undefined, finding: Finding, at: string): SeenOperations {
  const known = new Map(readOperations(old, at).map((each) => [toOperationKey(each), each]))
  for (const { operation, finding: answer } of toAnswers(finding)) {
    const key = toOperationKey(operation)
    known.set(key, mergeAnswer(known.get(key) ?? operation, answer, at))
  }
  return [...known.values()]
    .map((each) => withoutTime(each, at))
    .sort((a, b) => (`${a.url} ${a.method}` < `${b.url} ${b.method}` ? -1 : 1))
}

/** Each probed operation of a listing, the deciding one first. */
export function toAnswers(finding: Finding) {
  const operation = finding.sight?.operation
  const first = operation === undefined ? [] : [{ operation, finding }]
  return [...first, ...(finding.others ?? [])]
}

/** Each answer with its own time. Old answers are dropped. */
function readOperations(old: Interface | undefined, at: string): SeenOperations {
  const oldest = Date.parse(at) - KEEP_MS
  return (old?.operations ?? []).map(({ seen, ...operation }) => {
    const seenAt = seen?.at ?? old?.at ?? at
    return seen === undefined || Date.parse(seenAt) < oldest
      ? operation
      : { ...operation, seen: { ...seen, at: seenAt } }
  })
}

/** Whether the terms of the operation's last 402 remain valid after an answer. */
function isSilent({ outcome }: Pick<Finding, 'outcome'>): boolean {
  return SILENT.has(outcome)
}

/** @param before its earlier state; description, price and offers stay unless replaced */
function mergeAnswer(before: SeenOperation, answer: Finding, at: string): SeenOperation {
  const { sight, outcome } = answer
  const { terms = [], operation } = sight ?? {}
  const priceUpTo = (most: number) =>
    toPrice(terms.filter(({ usd }) => usd !== null && usd <= most).flatMap(toOffer))
  const { price, offers = [] } = priceUpTo(MAX_PRICE_USD)
  const { per: _, ...requested } = priceUpTo(MAX_SEEN_USD).price ?? {}
  const { min_usd, max_usd, pay_to, accepts } = before.seen ?? {}
  const former = present({ min_usd, max_usd, pay_to, accepts })
  const seen: SeenAnswer = {
    at,
    outcome,
    ...toStated(answer),
    ...(answer.judged && { verdict: answer.judged.verdict }),
    ...(isSilent(answer) ? former : { ...requested, ...toPayTo(terms), ...toAccepts(terms) }),
  }
  return {
    ...before,
    ...operation,
    ...(price && { price, offers: offers.slice(0, MAX_OFFERS) }),
    seen,
  }
}

function toStated({ status = 0, saw }: Finding): Pick<SeenAnswer, 'status' | 'saw'> {
  const isStatus = status >= 100 && status <= 599
  return { ...(isStatus && { status }), ...(saw !== '' && { saw }) }
}

function toPayTo(terms: readonly PaymentTerm[]): Pick<SeenAnswer, 'pay_to'> {
  const named = new Map(
    terms.flatMap(({ payout }) => (payout === null ? [] : [[normalizePayout(payout), payout]])),
  )
  return named.size > 0 ? { pay_to: [...named.values()].sort().slice(0, MAX_PAY_TO) } : {}
}

function toAccepts(terms: readonly PaymentTerm[]): Pick<SeenAnswer, 'accepts'> {
  const accepts = terms.flatMap(({ accept }) => accept ?? []).slice(0, MAX_PAY_TO)
  return accepts.length > 0 ? { accepts } : {}
}

function withoutTime({ seen, ...operation }: SeenOperation, at: string): SeenOperation {
  if (seen?.at !== at) return seen === undefined ? operation : { ...operation, seen }
  const { at: _, ...rest } = seen
  return { ...operation, seen: rest }
}
