import * as v from 'valibot'
import { normalizePayout } from '../../listing/payout.ts'
import { type Evidence, type Probe, ProbeSchema } from '../../trust/evidence.ts'
import { type Interface, InterfaceSchema } from '../../trust/interface.ts'
import type { Finding, PaymentTerm, Sight } from '../read/finding.ts'
import { judgeDrift } from './drift-notices.ts'
import type { ProbePlan } from './probe-plan.ts'

/** How long probes and the payouts they saw are kept. */
export const KEEP_DAYS = 90
const DAY_MS = 86_400_000
const MAX_PAYOUTS = 20
const MAX_OFFERS = 20

/** Above this a price of one call is a decoy or a ceiling (USD). */
const MAX_PRICE_USD = 1000

/**
 * The evidence of a listing after one more probe: the record among the last 90 days, what was seen
 * of the interface, and the notices that follow from the seller's terms. What a probe did not see
 * stays as it was.
 *
 * @param at time of the probe, ISO 8601 UTC
 */
export function mergeFinding(
  evidence: Evidence,
  finding: Finding,
  plan: Pick<ProbePlan, 'declared'>,
  at: string,
): Evidence {
  const { sight } = finding
  const probes = keepProbes([...(evidence.probes ?? []), toRecord(finding, at)], at)
  if (sight === undefined) return { ...evidence, probes }
  const seen = v.safeParse(InterfaceSchema, mergeSight(evidence.interface, sight, at))
  const notices =
    sight.terms === undefined
      ? (evidence.notices ?? [])
      : judgeDrift(evidence, sight.terms, plan.declared, at)
  const { notices: _, ...rest } = evidence
  return {
    ...rest,
    probes,
    ...(seen.success && { interface: seen.output }),
    ...(notices.length > 0 && { notices }),
  }
}

/** Sorted by time, each moment once, none older than we keep. */
export function keepProbes(probes: readonly Probe[], at: string): Probe[] {
  const oldest = Date.parse(at) - KEEP_DAYS * DAY_MS
  const byMoment = new Map(probes.map((probe) => [`${probe.at} ${probe.protocol}`, probe]))
  return [...byMoment.values()]
    .filter((probe) => Date.parse(probe.at) >= oldest)
    .sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
}

function toRecord({ protocol, outcome, status, ms, version, saw }: Finding, at: string): Probe {
  return v.parse(ProbeSchema, {
    at,
    protocol,
    outcome,
    ...(status !== undefined && status >= 100 && status <= 599 && { status }),
    ...(ms !== undefined && { ms }),
    ...(version !== undefined && { version }),
    ...(saw !== '' && { saw }),
  })
}

function mergeSight(old: Interface | undefined, sight: Sight, at: string): unknown {
  const { tools, skills, server, terms, truncated } = sight
  const payouts = mergePayouts(old?.payouts ?? [], terms ?? [], at)
  const operations = mergeOperation(old?.operations ?? [], sight)
  // Operations that a document of the seller's listed stay that document's.
  const isTheirs = terms !== undefined && (old?.from === 'openapi' || old?.from === 'catalog')
  return {
    at,
    from: isTheirs ? old?.from : sight.from,
    ...(operations.length > 0 && { operations }),
    ...kept('tools', tools, terms === undefined ? undefined : old?.tools),
    ...kept('skills', skills, terms === undefined ? undefined : old?.skills),
    ...(server === undefined ? kept('server', undefined, old?.server) : { server: filled(server) }),
    ...(payouts.length > 0 && { payouts }),
    ...(truncated === true && { truncated }),
  }
}

function kept(name: string, seen: unknown, old: unknown): Record<string, unknown> {
  const value = seen ?? old
  return value === undefined ? {} : { [name]: value }
}

/** Without what the server left empty. */
function filled(server: NonNullable<Sight['server']>): Record<string, string> {
  return Object.fromEntries(Object.entries(server).filter(([, value]) => value !== ''))
}

/** The newest first; an address that is named again gets its new date. */
function mergePayouts(
  old: NonNullable<Interface['payouts']>,
  terms: readonly PaymentTerm[],
  at: string,
): NonNullable<Interface['payouts']> {
  const named = terms.flatMap(({ payout, network }) =>
    payout === null || network === null ? [] : [{ payout, network, seen_at: at }],
  )
  const oldest = Date.parse(at) - KEEP_DAYS * DAY_MS
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

/** The operation that was asked, with its price and offers as the seller named them. */
function mergeOperation(
  old: NonNullable<Interface['operations']>,
  { operation, terms = [] }: Sight,
): NonNullable<Interface['operations']> {
  if (operation === undefined) return old
  const priced = terms.filter(({ usd }) => usd !== null && usd <= MAX_PRICE_USD)
  const prices = priced.map(({ usd }) => usd ?? 0)
  const known = old.find(({ method, url }) => method === operation.method && url === operation.url)
  const seen = {
    ...known,
    ...operation,
    ...(prices.length > 0 && {
      price: { min_usd: Math.min(...prices), max_usd: Math.max(...prices), per: 'call' as const },
      offers: toOffers(priced),
    }),
  }
  return [...old.filter((each) => each !== known), seen].sort((a, b) =>
    `${a.url} ${a.method}` < `${b.url} ${b.method}` ? -1 : 1,
  )
}

function toOffers(terms: readonly PaymentTerm[]) {
  const groups = Map.groupBy(terms, ({ rail, network }) => `${rail} ${network ?? ''}`)
  return [...groups.values()].slice(0, MAX_OFFERS).flatMap((group) => {
    const [first] = group
    if (first === undefined) return []
    const prices = group.map(({ usd }) => usd ?? 0)
    return {
      rail: first.rail,
      ...(first.network !== null && { network: first.network }),
      min_usd: Math.min(...prices),
      max_usd: Math.max(...prices),
    }
  })
}
