import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isLiveTested } from '../../src/domain/derived/derived-listing.ts'
import type { Probe } from '../../src/domain/trust/evidence.ts'
import { PROBE_OUTCOMES } from '../../src/domain/wire/vocabulary.ts'
import { LIVE_PROBES, toProbes } from './listing-samples.ts'

const MORNING = '2026-10-30T08:00:00Z'
const NOON = '2026-10-30T20:00:00Z'

test.each([
  ['no probe', [], false],
  ['two probes, however far apart', toProbes('2026-01-01T00:00:00Z', MORNING), false],
  ['three over exactly 24 hours', toProbes(MORNING, NOON, '2026-10-31T08:00:00Z'), true],
  ['three over a millisecond less', toProbes(MORNING, NOON, '2026-10-31T07:59:59.999Z'), false],
  ['three at one moment', toProbes(MORNING, MORNING, MORNING), false],
  [
    'the last three over less than a day, however old the fourth',
    toProbes('2026-10-01T00:00:00Z', MORNING, NOON, '2026-10-30T21:00:00Z'),
    false,
  ],
])('%s', (_, probes, expected) => {
  expect(isLiveTested(probes)).toBe(expected)
})

test.each(PROBE_OUTCOMES)('a newest probe that is %s decides', (outcome) => {
  const newest: Probe = { at: '2026-11-01T00:00:00Z', protocol: 'x402', outcome }
  const isKept = outcome === 'spoke' || outcome === 'unknown'
  expect(isLiveTested([...LIVE_PROBES, newest])).toBe(isKept)
})

test('a failure of ours between good probes earns nothing and costs nothing', () => {
  const between: Probe = { at: '2026-10-30T21:00:00Z', protocol: 'x402', outcome: 'unknown' }
  expect(isLiveTested([...LIVE_PROBES, between])).toBe(true)
  expect(isLiveTested([...LIVE_PROBES.slice(1), between])).toBe(false)
})

test('a bad probe older than the last three is forgiven', () => {
  const oldest: Probe = { at: '2026-10-01T00:00:00Z', protocol: 'x402', outcome: 'dead' }
  expect(isLiveTested([oldest, ...LIVE_PROBES])).toBe(true)
})

test('the order of the file does not matter', () => {
  const dead: Probe = { at: '2026-10-28T00:00:00Z', protocol: 'x402', outcome: 'dead' }
  const all = [dead, ...LIVE_PROBES]
  const shuffled = fc.shuffledSubarray(all, { minLength: all.length })
  fc.assert(fc.property(shuffled, (probes) => isLiveTested(probes)))
})
