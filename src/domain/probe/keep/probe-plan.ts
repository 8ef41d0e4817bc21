import * as v from 'valibot'
import type { Evidence, Probe } from '../../trust/evidence.ts'
import { largestOf } from '../../wire/extremes.ts'
import { HTTP_METHODS, PROBE_PROTOCOLS, RAILS } from '../../wire/vocabulary.ts'

const RequestSchema = v.strictObject({
  method: v.picklist(HTTP_METHODS),
  url: v.string(),
  headers: v.record(v.string(), v.string()),
  body: v.optional(v.string()),
})

/** As the listing declares it, with unfilled placeholders. */
const DeclaredOperationSchema = v.strictObject({
  method: v.picklist(HTTP_METHODS),
  url: v.string(),
})

/** The declared answer in addition to its media type: for judging free operations. */
const ShapeSchema = v.strictObject({
  schema: v.optional(v.unknown()),
  example: v.optional(v.unknown()),
})

/** Another operation to probe, once the first one succeeded. */
const OtherRequestSchema = v.strictObject({
  request: RequestSchema,
  operation: DeclaredOperationSchema,
  /** It must answer 402; one that is free or has no declared price may also answer 2xx. */
  is_paid: v.boolean(),
  /** Media type of the declared answer. */
  expected: v.nullable(v.string()),
  shape: v.optional(ShapeSchema),
  is_guess: v.boolean(),
})

/** How one listing is probed. `none` is a listing that no handshake fits, and why. */
export const HandshakeSchema = v.variant('kind', [
  v.strictObject({
    kind: v.literal('payment'),
    request: RequestSchema,
    operation: DeclaredOperationSchema,
    rails: v.array(v.picklist(RAILS)),
    is_guess: v.boolean(),
    // An older release may be read: it has neither these nor `operation` of `http`.
    others: v.optional(v.array(OtherRequestSchema)),
  }),
  v.strictObject({ kind: v.literal('mcp'), url: v.string() }),
  v.strictObject({ kind: v.literal('mcp_sse'), url: v.string() }),
  /** Addresses of the card; the next one is tried where the first has none. */
  v.strictObject({ kind: v.literal('a2a'), urls: v.array(v.string()) }),
  v.strictObject({
    kind: v.literal('http'),
    request: RequestSchema,
    /** Media type of the declared answer. */
    expected: v.nullable(v.string()),
    shape: v.optional(ShapeSchema),
    operation: v.optional(DeclaredOperationSchema),
    others: v.optional(v.array(OtherRequestSchema)),
  }),
  v.strictObject({
    kind: v.literal('none'),
    protocol: v.picklist(PROBE_PROTOCOLS),
    reason: v.string(),
  }),
])

/** Exactly the facts of a listing that a prober needs. The build writes one for each. */
export const ProbePlanSchema = v.strictObject({
  id: v.string(),
  handshake: HandshakeSchema,
  /** The listing's own facts, so that drift can be detected. */
  declared: v.strictObject({
    /** The probed operations, the deciding one first, each with its highest price in USD. */
    operations: v.array(
      v.strictObject({ ...DeclaredOperationSchema.entries, max_usd: v.nullable(v.number()) }),
    ),
    networks: v.array(v.string()),
    /** CAIP-10. */
    payouts: v.array(v.string()),
  }),
})

export type Handshake = v.InferOutput<typeof HandshakeSchema>
export type PlannedRequest = v.InferOutput<typeof RequestSchema>
export type OtherRequest = v.InferOutput<typeof OtherRequestSchema>
export type ProbePlan = v.InferOutput<typeof ProbePlanSchema>

/** The address probed first; null without one. */
export function addressOf(handshake: Handshake): string | null {
  if ('request' in handshake) return handshake.request.url
  if ('url' in handshake) return handshake.url
  return handshake.kind === 'a2a' ? (handshake.urls[0] ?? null) : null
}

export type Candidate = ReturnType<typeof toCandidate>

/**
 * @returns `lastAt` in milliseconds since the epoch, null for never; `notBefore`: the seller asked to
 *   be left alone until then
 */
export function toCandidate(plan: ProbePlan, evidence: Pick<Evidence, 'probes' | 'interface'>) {
  const { probes = [], interface: seen } = evidence
  const times = probes.map(({ at }) => Date.parse(at))
  const lastAt = times.length === 0 ? null : largestOf(times)
  const last = probes.filter(({ at }) => Date.parse(at) === lastAt)
  // Any of its operations may have asked for it, each at its own time.
  const answers = (seen?.operations ?? []).flatMap(({ seen: answer }) =>
    answer === undefined ? [] : [{ ...answer, at: answer.at ?? seen?.at ?? '' }],
  )
  const waits = [...last, ...answers].map(
    (answer) => (Date.parse(answer.at) || 0) + waitOf(answer) * 1000,
  )
  return { plan, lastAt, notBefore: largestOf(waits, 0) }
}

/**
 * Listings never probed first, then the stalest; `Retry-After` is honoured. One without an endpoint
 * is recorded once. @param staleMs leaves out those probed since; 0 for nobody
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

/** Seconds requested by the last answer; written by `judgeStatus`. */
function waitOf({ outcome, saw = '' }: Pick<Probe, 'outcome' | 'saw'>): number {
  if (outcome !== 'unknown') return 0
  return Number(/, retry after (\d{1,6}) s$/.exec(saw)?.[1] ?? 0)
}
