import * as v from 'valibot'
import { MeasuredSchema, SignalsSchema } from '../../../src/domain/trust/evidence.ts'
import type { SeedEvidence } from '../../facts/seed-facts.ts'

const number = v.optional(v.nullable(v.number()))
const text = v.optional(v.nullable(v.string()))

/** What the provider measured of a service; null means "not measured", which is not zero. */
export const AssessmentSchema = v.object({
  compliance_grade: text,
  reliability_uptime_30d: number,
  response_p95_ms: number,
  price_usd: number,
  price_max_usd: number,
  risk_level: text,
  traction: v.optional(
    v.nullable(
      v.object({
        status: text,
        volume_usd_30d: number,
        tx_count_30d: number,
        unique_buyers_30d: number,
        last_settlement_at: text,
        top_buyer_share_30d: number,
        shared_payout: v.optional(v.nullable(v.boolean())),
      }),
    ),
  ),
})
type Assessment = v.InferOutput<typeof AssessmentSchema>

export interface Measurable {
  status?: string | null | undefined
  verified?: boolean | null | undefined
  endpoint_count?: number | null | undefined
  uptime_24h?: number | null | undefined
  last_checked_at?: string | null | undefined
  assessment?: Assessment | null | undefined
}

/** Evidence members, each only where the provider has it and it is of a shape that can be true. */
export function toEvidence(row: Measurable, now: string): SeedEvidence {
  const measured = toMeasured(row, now)
  const signals = toSignals(row)
  return {
    ...(measured === null ? {} : { measured }),
    ...(Object.keys(signals).length === 0 ? {} : { signals }),
  }
}

function toMeasured({ assessment, last_checked_at }: Measurable, now: string) {
  const traction = assessment?.traction
  if (traction?.status !== 'measured') return null
  const checked = toInstant(last_checked_at)
  const last = toInstant(traction.last_settlement_at)
  const measured = {
    source: 'x402-list',
    // The window can't end before the last payment in it.
    as_of: [checked ?? now, last ?? ''].sort().at(-1),
    verified_buyers_30d: traction.unique_buyers_30d,
    settlements_30d: traction.tx_count_30d,
    volume_usd_30d: traction.volume_usd_30d,
    top_buyer_share_30d: traction.top_buyer_share_30d ?? 0,
    last_settlement_at: last,
    shared_payout: traction.shared_payout ?? false,
    wash_flags: [],
    watch: [],
  }
  return v.is(MeasuredSchema, measured) ? measured : null
}

function toSignals(row: Measurable): Record<string, unknown> {
  const { assessment } = row
  const said: Record<string, unknown> = {
    status: row.status,
    verified: row.verified,
    uptime_24h: row.uptime_24h,
    uptime_30d: assessment?.reliability_uptime_30d,
    p95_ms: roundOrNull(assessment?.response_p95_ms),
    compliance_grade: assessment?.compliance_grade,
    risk_level: assessment?.risk_level,
    endpoint_count: row.endpoint_count,
  }
  return Object.fromEntries(
    Object.entries(said).filter(
      ([name, value]) =>
        value !== null && v.is(SignalsSchema, { [name]: value }) && value !== undefined,
    ),
  )
}

function roundOrNull(value: number | null | undefined): number | null {
  return typeof value === 'number' ? Math.round(value) : null
}

function toInstant(value: string | null | undefined): string | null {
  const time = Date.parse(value ?? '')
  return Number.isNaN(time) ? null : new Date(time).toISOString()
}
