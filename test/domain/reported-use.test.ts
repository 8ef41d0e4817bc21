import { expect, test } from 'vitest'
import {
  mostReportedCalls,
  toUseSignals,
  uniteReports,
} from '../../src/domain/trust/reported-use.ts'
import { toSignalWords, toUseWords } from '../../src/site/evidence/signal-words.ts'

const old = { source: 'cdp_bazaar', as_of: '2026-08-01T00:00:00Z', calls_30d: 5 }
const newer = {
  source: 'cdp_bazaar',
  as_of: '2026-09-20T13:19:02Z',
  calls_30d: 1500,
  payers_30d: 9,
}
const stars = { source: 'toolhive_registry', as_of: '2026-09-01T00:00:00Z', stars: 40 }

test('of several reports of one source the newest counts, whatever their order', () => {
  const reads = [{ reported_use: [newer, stars] }, { reported_use: [old] }, {}]
  expect(uniteReports(reads)).toEqual([newer, stars])
  expect(uniteReports(reads.toReversed())).toEqual([newer, stars])
})

test('calls of several sources are not added up: they may be the same ones', () => {
  expect(mostReportedCalls([newer, { ...old, source: 'other' }])).toBe(1500)
  expect(mostReportedCalls([stars])).toBeUndefined()
  expect(mostReportedCalls()).toBeUndefined()
})

test('on the wire each number has its source before it, and a page names source and day', () => {
  const signals = toUseSignals([newer, stars])
  expect(signals).toEqual({
    cdp_bazaar_calls_30d: 1500,
    cdp_bazaar_payers_30d: 9,
    cdp_bazaar_as_of: '2026-09-20',
    toolhive_registry_stars: 40,
    toolhive_registry_as_of: '2026-09-01',
  })
  const words = toUseWords(signals, (id) => (id === 'cdp_bazaar' ? 'CDP Bazaar' : id))
  expect(words).toEqual([
    ['In the 30 days to 2026-09-20, counted by CDP Bazaar', '1,500 calls, at least 9 payers'],
    ['Up to 2026-09-01, counted by toolhive_registry', '40 stars'],
  ])
  expect(toSignalWords({ ...signals, x402_list_status: 'online' })).toEqual([
    ['Status (x402-list)', 'online'],
  ])
})
