import { describe, expect, test } from 'vitest'
import { EvidenceSchema } from '../../src/domain/trust/evidence.ts'
import { PROBE_OUTCOMES, PROBE_PROTOCOLS } from '../../src/domain/wire/vocabulary.ts'
import { findFaults, toMeasured } from './listing-samples.ts'

const SIGNALS = {
  status: 'online',
  verified: true,
  uptime_24h: 100,
  uptime_30d: 99.9,
  p95_ms: 310,
  compliance_grade: 'A',
  risk_level: 'clean',
  endpoint_count: 3,
  openapi_paid_ops: 2,
}

describe('evidence', () => {
  test.each([
    ['nothing at all', {}],
    ['measurements', { measured: toMeasured() }],
    ['measurements without a sale', { measured: toMeasured({ last_settlement_at: null }) }],
    [
      'a sale at the very end',
      { measured: toMeasured({ last_settlement_at: '2026-11-01T00:00:00Z' }) },
    ],
    [
      'flags',
      { measured: toMeasured({ wash_flags: [{ flag: 'burst', settlements: 3, note: 'x' }] }) },
    ],
    ['signals', { signals: SIGNALS }],
    ['some signals', { signals: { uptime_30d: 0 } }],
    ['every kind of probe', { probes: PROBE_PROTOCOLS.flatMap(probesOf) }],
  ])('%s is fine', (_, evidence) => {
    expect(findFaults(EvidenceSchema, evidence)).toEqual([])
  })

  test.each([
    ['unknown members', { score: 100 }, /^score: /],
    ['unknown signals', { signals: { stars: 5 } }, /^signals\.stars: /],
    ['a count with a part', { measured: toMeasured({ settlements_30d: 1.5 }) }, /whole number/],
    ['a negative count', { measured: toMeasured({ verified_buyers_30d: -1 }) }, /0 or more/],
    ['volume without end', { measured: toMeasured({ volume_usd_30d: 1 / 0 }) }, /finite/],
    ['a share above one', { measured: toMeasured({ top_buyer_share_30d: 1.01 }) }, /from 0 to 1/],
    ['a share below none', { measured: toMeasured({ top_buyer_share_30d: -0.1 }) }, /from 0 to 1/],
    ['101 percent', { signals: { uptime_24h: 101 } }, /percentage from 0 to 100/],
    ['minus one percent', { signals: { uptime_24h: -1 } }, /percentage from 0 to 100/],
    ['half a millisecond', { signals: { p95_ms: 0.5 } }, /whole number/],
    ['a day', { measured: toMeasured({ as_of: '2026-11-01' }) }, /ISO 8601 UTC/],
    ['local time', { measured: toMeasured({ as_of: '2026-11-01T00:00:00+01:00' }) }, /ISO 8601/],
    [
      '30 February',
      { measured: toMeasured({ as_of: '2027-02-30T00:00:00Z' }) },
      /time that exists/,
    ],
    ['25 o’clock', { measured: toMeasured({ as_of: '2027-02-01T25:00:00Z' }) }, /time that exists/],
    [
      'a sale after the window',
      { measured: toMeasured({ last_settlement_at: '2026-11-01T00:00:01Z' }) },
      /^measured\.last_settlement_at: expected a time that is not later than as_of$/,
    ],
    [
      'an unknown outcome',
      { probes: [{ ...probe('x402', 'spoke'), outcome: 'ok' }] },
      /one of spoke, gated/,
    ],
    [
      'an unknown protocol',
      { probes: [{ ...probe('x402', 'spoke'), protocol: 'ftp' }] },
      /one of x402, mpp/,
    ],
    [
      'a source that is a sentence',
      { measured: toMeasured({ source: 'my <b>source</b>' }) },
      /short identifier/,
    ],
    ['a status that is markup', { signals: { status: '<b>online</b>' } }, /short identifier/],
  ])('%s is refused', (_, evidence, message) => {
    const faults = findFaults(EvidenceSchema, evidence)
    expect(faults).toHaveLength(1)
    expect(faults[0]).toMatch(message)
  })
})

function probesOf(protocol: (typeof PROBE_PROTOCOLS)[number]) {
  return PROBE_OUTCOMES.map((outcome) => probe(protocol, outcome))
}

function probe(protocol: string, outcome: string) {
  return { at: '2026-10-31T20:00:00Z', protocol, outcome }
}
