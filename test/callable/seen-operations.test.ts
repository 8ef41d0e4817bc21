import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { toCallRows } from '../../src/components/calls/call-rows.ts'
import { KitOperationSchema } from '../../src/domain/kit/kit-entries.ts'
import type { Interface } from '../../src/domain/trust/evidence.ts'
import { toListingView } from '../../src/domain/views/listing-view.ts'
import { SAMPLE_FACTS, toKit, toListing, VIEW_CONTEXT } from '../domain/listing-samples.ts'

type Seen = NonNullable<NonNullable<Interface['operations']>[number]['seen']>

const AT = '2026-11-20T12:00:00Z'
const PAYEE = `eip155:8453:0x${'ab'.repeat(20)}`
const spoke = (usd: number): Seen => ({
  outcome: 'spoke',
  status: 402,
  min_usd: usd,
  max_usd: usd,
  pay_to: [PAYEE],
  saw: '402 with 1 offer',
})
const at = (path: string) => `${new URL(SAMPLE_FACTS.url).origin}/${path}`

/** A listing whose operations `a`, `b`, … cost two cents each, and what a probe saw of them. */
function listingWith(seen: (Seen | undefined)[]) {
  const paths = seen.map((_, n) => at(String.fromCharCode(97 + n)))
  const price = { min_usd: 0.02, max_usd: 0.02, per: 'call' }
  return toListing({
    facts: { http: paths.map((url) => ({ method: 'GET', url, price })) },
    evidence: {
      interface: {
        at: AT,
        from: 'x402',
        operations: seen.flatMap((each, n) =>
          each === undefined ? [] : [{ method: 'GET', url: paths[n] ?? '', seen: each }],
        ),
      },
    },
  })
}

const kitOf = (seen: (Seen | undefined)[]) => toKit(listingWith(seen))

describe('what a probe saw of an operation', () => {
  test('stands beside the listed price, with its day and without its words', () => {
    const older = { ...spoke(0.03), at: '2026-11-18T12:00:00Z' }
    const expected = [
      { at: AT, outcome: 'spoke', status: 402, min_usd: 0.02, max_usd: 0.02, pay_to: [PAYEE] },
      { ...older, saw: undefined },
      undefined,
    ]
    const all = [spoke(0.02), older, undefined]
    const view = toListingView(listingWith(all), VIEW_CONTEXT)
    const { operations } = kitOf(all)
    expect(view.operations?.map(({ seen }) => seen)).toEqual(expected)
    expect(operations.map(({ seen }) => seen)).toEqual(expected)
    expect(operations.every(({ price }) => price?.max_usd === 0.02)).toBe(true)
    for (const operation of operations)
      expect(v.parse(v.strictObject(KitOperationSchema.entries), operation)).toEqual(operation)
  })

  test.each<[string, Seen, unknown]>([
    ['asked as listed', spoke(0.02), { text: 'asked $0.02', tone: 'plain' }],
    ['asked more', spoke(0.03), { text: 'asked $0.03', tone: 'bad' }],
    [
      'spoke without a price',
      { outcome: 'spoke', status: 200 },
      { text: 'answered', tone: 'plain' },
    ],
    ['is not there', { outcome: 'dead', status: 404 }, { text: 'answered 404', tone: 'bad' }],
    ['said nothing', { outcome: 'dead', min_usd: 0.02 }, { text: 'no answer', tone: 'bad' }],
    ['wants a key', { outcome: 'gated', status: 401 }, { text: 'asked for a key', tone: 'strong' }],
    ['wants to be left alone', { outcome: 'unknown', status: 429 }, null],
  ])('that %s is told on its page', (_, seen, tag) => {
    const tags = [{ text: 'reads', tone: 'plain' }, ...(tag === null ? [] : [tag])]
    expect(toCallRows(kitOf([seen]))?.rows).toMatchObject([{ price: '$0.02', tags }])
  })

  test.each<[string, Seen | undefined, unknown[]]>([
    ['no longer seen', undefined, [{ text: 'asked $0.05', tone: 'bad' }]],
    [
      'silent since',
      { outcome: 'dead' },
      [
        { text: 'asked $0.05', tone: 'bad' },
        { text: 'no answer', tone: 'bad' },
      ],
    ],
    ['back at its price', spoke(0.02), [{ text: 'asked $0.02', tone: 'plain' }]],
  ])('a price above the listed one stays beside an operation that is %s', (_, seen, tags) => {
    const change = { what: 'price', name: 'GET /a', was: '$0.02', is: '$0.05', of: 'look' } as const
    const { rows = [] } = toCallRows(kitOf([seen]), [{ at: AT, ...change }]) ?? {}
    expect(rows[0]?.tags.slice(1)).toEqual(tags)
  })

  test('of which one asked for a key is not offered to try', () => {
    const gated = { outcome: 'gated', status: 401 } as const
    const rows = toCallRows(kitOf([spoke(0.02), gated]))?.rows ?? []
    expect(rows.map(({ trial }) => trial !== null)).toEqual([true, false])
  })
})
