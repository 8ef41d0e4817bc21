import { scoreTrust, type TrustInput } from './trust.ts'

interface TrustExample {
  title: string
  input: TrustInput
  score: number
  /** What the example shows. */
  note: string
}

const CASES: readonly Omit<TrustExample, 'score'>[] = [
  {
    title: 'A busy service',
    input: input({ buyers: 80, settlements: 900, volumeUsd: 600, topBuyerShare: 0.1 }),
    note: 'Many buyers, none of them large, paid this week.',
  },
  {
    title: 'The same, with one large buyer',
    input: input({ buyers: 80, settlements: 900, volumeUsd: 600, topBuyerShare: 0.9 }),
    note: 'One buyer holding most of the volume costs up to half.',
  },
  {
    title: 'The same, three weeks silent',
    input: input({
      buyers: 80,
      settlements: 900,
      volumeUsd: 600,
      topBuyerShare: 0.1,
      daysSinceLast: 21,
    }),
    note: 'After the first week without a settlement the score fades.',
  },
  {
    title: 'A small, honest service',
    input: input({ buyers: 12, settlements: 340, volumeUsd: 12.5, topBuyerShare: 0.4 }),
    note: 'Small prices do no harm: buyers weigh most.',
  },
  {
    title: 'First sales',
    input: input({ buyers: 2, settlements: 4, volumeUsd: 0.2, topBuyerShare: 0.6 }),
    note: 'Few buyers say little; the score carries the marker "low sample".',
  },
  {
    title: 'A payout address shared by ten listings',
    input: input({
      buyers: 80,
      settlements: 900,
      volumeUsd: 600,
      topBuyerShare: 0.1,
      sharers: 10,
    }),
    note: 'Settlements and volume are divided by the listings that share the address.',
  },
]

/** Worked examples of the method page, computed by the method itself. */
export function toTrustExamples(): TrustExample[] {
  return CASES.map((example) => ({ ...example, score: scoreTrust(example.input) }))
}

function input(
  facts: Omit<TrustInput, 'daysSinceLast' | 'sharers'> & Partial<TrustInput>,
): TrustInput {
  return { daysSinceLast: 1, sharers: 1, ...facts }
}
