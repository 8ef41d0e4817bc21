import { scoreTrust, type TrustInput } from './trust.ts'

const BUSY = { buyers: 80, settlements: 900, volumeUsd: 600, topBuyerShare: 0.1 }
const SMALL = { buyers: 12, settlements: 340, volumeUsd: 12.5, topBuyerShare: 0.4 }
const FIRST = { buyers: 2, settlements: 4, volumeUsd: 0.2, topBuyerShare: 0.6 }

/** `note` says what the example shows. */
type Case = [title: string, note: string, facts: typeof BUSY & Partial<TrustInput>]

const CASES: readonly Case[] = [
  ['A busy service', 'Many buyers, none of them large, paid this week.', BUSY],
  [
    'The same, with one large buyer',
    'One buyer holding most of the volume costs up to half.',
    { ...BUSY, topBuyerShare: 0.9 },
  ],
  [
    'The same, three weeks silent',
    'After the first week without a settlement the score fades.',
    { ...BUSY, daysSinceLast: 21 },
  ],
  ['A small, honest service', 'Small prices do no harm: buyers weigh most.', SMALL],
  ['First sales', 'Few buyers say little; the score carries the marker "low sample".', FIRST],
  [
    'A payout address shared by ten listings',
    'Settlements and volume are divided by the listings that share the address.',
    { ...BUSY, sharers: 10 },
  ],
]

/** Worked examples of the method page, computed by the method itself. */
export function toTrustExamples() {
  return CASES.map(([title, note, facts]) => {
    const input = { daysSinceLast: 1, sharers: 1, ...facts }
    return { title, input, note, score: scoreTrust(input) }
  })
}
