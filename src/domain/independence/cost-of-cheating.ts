import * as v from 'valibot'
import { count } from '../wire/shapes.ts'

const usd = v.pipe(v.number(), v.minValue(0))
const score = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100))
const share = v.pipe(v.number(), v.minValue(0), v.maxValue(1))
const text = v.pipe(v.string(), v.minLength(1), v.maxLength(200))

/** The cheapest plan found: dollars lost per listing, and how it is carried out. */
const FoundSchema = v.strictObject({
  /** Of the market where it was found. */
  seed: count,
  cost_usd: usd,
  score,
  wallets: count,
  payments: count,
  /** Dollars that circulate and come back. */
  volume_usd: usd,
  /** Dollars each wallet spends outside the listings. */
  elsewhere_usd: usd,
})

/** Scores an adversary tries to reach. */
export const TARGETS = ['30', '60', '90'] as const
/** Null: no plan within the budget reaches it. */
const goal = v.nullable(FoundSchema)
const goals = v.strictObject({ '30': goal, '60': goal, '90': goal })

/** `content/tables/cost_of_cheating.yaml`: written by `npm run simulate:trust`, never by hand. */
export const CostOfCheatingSchema = v.strictObject({
  date: v.pipe(v.string(), v.isoDate('expected a date such as 2026-11-22')),
  /** Worst case over the simulated markets. */
  seeds: v.pipe(v.array(count), v.minLength(1)),
  means: v.strictObject({ budget_usd: usd, wallets: count, payments: count }),
  /** With too few measured known sellers for anybody to vouch. */
  unmeasured: goals,
  /** `needs`: something from other people, which no method prices; the cost is everything else. */
  cheating: v.array(
    v.strictObject({ id: text, name: text, listings: count, needs: v.optional(text), goals }),
  ),
  /**
   * Records of a chain, real and forged, as the meter read them: how many looked like payments, how
   * many counted, and their score if everybody counts. An older table has none.
   */
  forged: v.optional(
    v.array(v.strictObject({ id: text, name: text, payments: count, counted: count, score })),
    [],
  ),
  /**
   * Attacks on relay, meter and payees: the score of a seller meant to lose by them, or of a cheat
   * meant to gain, without and with them. An older table has none.
   */
  machine: v.optional(
    v.array(
      v.strictObject({
        id: text,
        name: text,
        aim: v.picklist(['harm', 'gain']),
        cost_usd: usd,
        before: score,
        after: score,
        held: v.boolean(),
      }),
    ),
    [],
  ),
  /**
   * What a rival pays for a third of the score of a seller with about 4, 10 and 25 buyers; null
   * where nothing was found. `knows`: it takes knowledge of the seller's buyers. `least` is the
   * lowest score of the hardest hit seller, down from `score`.
   */
  griefing: v.array(
    v.strictObject({
      id: text,
      name: text,
      knows: v.boolean(),
      cost_usd: v.strictTuple([v.nullable(usd), v.nullable(usd), v.nullable(usd)]),
      score,
      least: score,
    }),
  ),
  victims: v.array(v.strictObject({ seed: count, buyers: count, score })),
  /** Ways of spreading a buyer's money that were compared; the first is the rule. */
  spreading: v.array(
    v.strictObject({
      id: text,
      name: text,
      /** In the rich, the middle and the poor market. */
      buyers_kept: v.strictTuple([share, share, share]),
      /** How many times too cheap the hundredth listing of one owner is. */
      hundredth: usd,
      /** The largest part of a score that a hundred cheap shops can take, 0 to 1. */
      cheap_shops: share,
      /** What a rival pays in rewards for a third of the score of a seller with 4, 10 and 25 buyers. */
      bait_usd: v.strictTuple([v.nullable(usd), v.nullable(usd), v.nullable(usd)]),
      /** How many of twenty cheap tools count whose buyer also uses an expensive one. */
      twenty_tools: usd,
    }),
  ),
  /** The rule's cost to honest sellers. */
  honest: v.array(
    v.strictObject({
      market: v.picklist(['rich', 'middle', 'poor']),
      about: text,
      /** The share of buyers from two sellers or more that paid a known one, 0 to 1. */
      known: share,
      /** Of those, how many count. */
      buyers_kept: share,
      /** The median seller's, without the rule and with it. */
      score_before: score,
      score,
    }),
  ),
})

export type Found = v.InferOutput<typeof FoundSchema>
export type Goals = v.InferOutput<typeof goals>
export type CostOfCheating = v.InferOutput<typeof CostOfCheatingSchema>

/** The cheapest attack on one target that needs nobody else, and its name; null if none. */
export function cheapestOf(
  { cheating }: Pick<CostOfCheating, 'cheating'>,
  target: (typeof TARGETS)[number],
) {
  const rows = cheating.flatMap(({ id, name, needs, goals: own }) => {
    const best = own[target]
    return best === null || needs !== undefined ? [] : [{ ...best, id, name }]
  })
  return rows.toSorted((a, b) => a.cost_usd - b.cost_usd)[0] ?? null
}
