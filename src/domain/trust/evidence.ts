import * as v from 'valibot'
import { isOnCalendar } from '../listing/calendar-date.ts'
import { PROBE_OUTCOMES, PROBE_PROTOCOLS } from '../wire/vocabulary.ts'

/** The measured-settlements provider in use: whose signals they are where no `measured` says so. */
export const MEASURED_PROVIDER = 'x402-list'

/** Source id of settlements this service verified on-chain itself; no outside provider. */
export const OWN_EVIDENCE = 'service_verified'

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/

const instant = v.pipe(
  v.string(),
  v.regex(INSTANT, 'expected an ISO 8601 UTC time such as 2026-11-01T00:00:00Z'),
  v.check((text) => !INSTANT.test(text) || doesExist(text), 'expected a time that exists'),
)
const count = v.pipe(
  v.number(),
  v.integer('expected a whole number'),
  v.minValue(0, 'expected 0 or more'),
)
const amount = v.pipe(
  v.number(),
  v.finite('expected a finite number'),
  v.minValue(0, 'expected 0 or more'),
)
const percent = v.pipe(
  v.number(),
  v.minValue(0, 'expected a percentage from 0 to 100'),
  v.maxValue(100, 'expected a percentage from 0 to 100'),
)
const shortText = v.pipe(
  v.string(),
  v.minLength(1, 'expected text, got nothing'),
  v.maxLength(300, 'expected at most 300 characters'),
)
const token = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_.-]{1,60}$/, 'expected a short identifier'))

/** `settlements` says how many were excluded under this flag. */
export const WashFlagSchema = v.strictObject({
  flag: token,
  settlements: count,
  note: v.optional(shortText),
})
/** Something to keep an eye on; changes no score. */
export const WatchSchema = v.strictObject({ id: token, note: shortText })

export const MeasuredSchema = v.pipe(
  v.strictObject({
    source: token,
    /** End of the 30-day window; "now" for this listing. */
    as_of: instant,
    verified_buyers_30d: count,
    settlements_30d: count,
    volume_usd_30d: amount,
    /** Share of the largest buyer, 0 to 1. */
    top_buyer_share_30d: v.pipe(
      v.number(),
      v.minValue(0, 'expected a share from 0 to 1'),
      v.maxValue(1, 'expected a share from 0 to 1'),
    ),
    last_settlement_at: v.nullable(instant),
    shared_payout: v.boolean(),
    wash_flags: v.array(WashFlagSchema),
    watch: v.array(WatchSchema),
  }),
  v.forward(
    v.check((m) => !isAfter(m.last_settlement_at, m.as_of), 'expected a time not after as_of'),
    ['last_settlement_at'],
  ),
)

export const SignalsSchema = v.strictObject({
  status: v.optional(token),
  verified: v.optional(v.boolean()),
  uptime_24h: v.optional(percent),
  uptime_30d: v.optional(percent),
  p95_ms: v.optional(count),
  compliance_grade: v.optional(token),
  risk_level: v.optional(token),
  endpoint_count: v.optional(count),
  openapi_paid_ops: v.optional(count),
})

export const ProbeSchema = v.strictObject({
  at: instant,
  protocol: v.picklist(PROBE_PROTOCOLS, `expected one of ${PROBE_PROTOCOLS.join(', ')}`),
  outcome: v.picklist(PROBE_OUTCOMES, `expected one of ${PROBE_OUTCOMES.join(', ')}`),
})

/**
 * `content/evidence/<prefix>/<slug>.json`: measurements and probes. Only machines
 * write it. Null and absent are different from zero: null says "looked, nothing there".
 */
export const EvidenceSchema = v.strictObject({
  measured: v.optional(MeasuredSchema),
  signals: v.optional(SignalsSchema),
  probes: v.optional(v.array(ProbeSchema)),
})

export type Measured = v.InferOutput<typeof MeasuredSchema>
export type Signals = v.InferOutput<typeof SignalsSchema>
export type Probe = v.InferOutput<typeof ProbeSchema>
export type Evidence = v.InferOutput<typeof EvidenceSchema>

function doesExist(text: string): boolean {
  return isOnCalendar(text) && !Number.isNaN(Date.parse(text))
}

/** False where either is no time at all: that is another fault, reported where it stands. */
function isAfter(time: string | null, limit: string): boolean {
  return time !== null && Date.parse(time) > Date.parse(limit)
}
