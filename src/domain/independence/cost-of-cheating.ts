import * as v from 'valibot'

const usd = v.pipe(v.number(), v.minValue(0))
const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const score = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100))

/** The cheapest plan found: dollars that are gone for good, and how it is carried out. */
const FoundSchema = v.strictObject({
  cost_usd: usd,
  score,
  wallets: count,
  payments: count,
  /** Dollars that go round and come back. */
  volume_usd: usd,
  /** Dollars each wallet spends beside the listing. */
  elsewhere_usd: usd,
})

/** Scores an adversary tries to reach. */
export const TARGETS = ['30', '60', '90'] as const
/** Null: no plan within the means reaches it. */
const goal = v.nullable(FoundSchema)
const goals = v.strictObject({ '30': goal, '60': goal, '90': goal })

/** `content/tables/cost_of_cheating.yaml`: written by `npm run simulate:trust`, never by hand. */
export const CostOfCheatingSchema = v.strictObject({
  date: v.pipe(v.string(), v.isoDate('expected a date such as 2026-11-22')),
  seed: count,
  /** What the adversary has. */
  means: v.strictObject({ budget_usd: usd, wallets: count, payments: count }),
  attacks: v.array(v.strictObject({ id: v.string(), name: v.string(), v01: goals, v02: goals })),
  /** With something of other people's, which no method prices: what is still paid beside it. */
  helped: v.array(
    v.strictObject({ id: v.string(), name: v.string(), needs: v.string(), v02: goals }),
  ),
  /** A small seller with real buyers, for comparison. */
  honest: v.strictObject({ buyers: count, payments: count, v01: score, v02: score }),
})

export type Found = v.InferOutput<typeof FoundSchema>
export type Goals = v.InferOutput<typeof goals>
export type CostOfCheating = v.InferOutput<typeof CostOfCheatingSchema>

/** The cheapest attack on one target, and its name; null where none was found. */
export function cheapestOf(
  { attacks }: Pick<CostOfCheating, 'attacks'>,
  method: 'v01' | 'v02',
  target: (typeof TARGETS)[number],
): (Found & { id: string; name: string }) | null {
  const rows = attacks.flatMap(({ id, name, [method]: own }) => {
    const best = own[target]
    return best === null ? [] : [{ ...best, id, name }]
  })
  return rows.toSorted((a, b) => a.cost_usd - b.cost_usd)[0] ?? null
}
