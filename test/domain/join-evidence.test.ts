import { describe, expect, test } from 'vitest'
import { joinEvidence } from '../../src/content/join.ts'
import type { Evidence } from '../../src/domain/trust/evidence.ts'
import { toMeasured } from './listing-samples.ts'

const OLD = '2026-09-01T00:00:00Z'
const NEW = '2026-11-01T00:00:00Z'

const measureOf = (as_of: string): Evidence => ({
  measured: toMeasured({ as_of, last_settlement_at: as_of }),
})
const rowOf = (evidence: Evidence) => ({
  ...{ importer: 'x402-list', key: 'tides' },
  row: { id: 'x402.tides', facts: {}, evidence },
})

describe('of two measures of a listing the newer one counts', () => {
  test.each([
    ['the file', NEW, [OLD]],
    ['a source', OLD, [NEW]],
    ['the second source', OLD, [OLD, NEW]],
  ])('%s has it', (_, own, reported) => {
    const rows = reported.map((as_of) => rowOf(measureOf(as_of)))
    expect(joinEvidence(measureOf(own), rows).measured?.as_of).toBe(NEW)
  })

  test('and the signals of the newer one are all, with their own day', () => {
    const own = { ...measureOf(OLD), signals: { uptime_30d: 50, p95_ms: 900 } }
    const reported = { ...measureOf(NEW), signals: { uptime_30d: 99 } }
    const newer = { as_of: NEW, uptime_30d: 99 }
    expect(joinEvidence(own, [rowOf(reported)]).signals).toEqual(newer)
    expect(joinEvidence(reported, [rowOf(own)]).signals).toEqual(newer)
    const dated = { signals: { as_of: OLD, status: 'online' } }
    expect(joinEvidence(dated, [rowOf(measureOf(NEW))])).toMatchObject({
      ...dated,
      measured: { as_of: NEW },
    })
  })
})

test('operations of a document stay where the newest look has none', () => {
  const seen = { method: 'GET', url: 'https://tides.example/now', description: 'Now' } as const
  const document = { at: OLD, from: 'openapi', operations: [seen] } as const
  const joined = joinEvidence({ interface: { at: NEW, from: 'x402' } }, [
    rowOf({ interface: document } as unknown as Evidence),
  ])
  expect(joined.interface).toMatchObject({ at: NEW, operations: [seen] })
})
