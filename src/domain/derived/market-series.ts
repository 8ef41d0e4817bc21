import * as v from 'valibot'
import { textLike } from '../wire/shapes.ts'

const MAX_POINTS = 400

/** `tables/market.yaml`: measurements of the paid market, as others published them. */
export const MarketSeriesSchema = v.strictObject({
  id: textLike(/^[a-z0-9]+(?:_[a-z0-9]+)*$/, 'expected a lower-case id such as payments_daily'),
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  unit: v.picklist(['count', 'usd'], 'expected count or usd'),
  /** Limits of the figures, such as covering only one seller. */
  note: v.pipe(v.string(), v.minLength(1), v.maxLength(1000)),
  source: v.strictObject({
    name: v.pipe(v.string(), v.minLength(1), v.maxLength(120)),
    url: textLike(/^https:\/\//, 'expected an https URL'),
    license: v.pipe(v.string(), v.minLength(1), v.maxLength(120)),
  }),
  /** A day or a band of prices, each with its figure. */
  points: v.pipe(
    v.array(
      v.strictObject({
        at: v.pipe(v.string(), v.minLength(1), v.maxLength(40)),
        value: v.pipe(v.number(), v.minValue(0, 'expected 0 or more')),
      }),
    ),
    v.minLength(2, 'expected at least 2 points'),
    v.maxLength(MAX_POINTS, `expected at most ${MAX_POINTS} points`),
  ),
})

export type MarketSeries = v.InferOutput<typeof MarketSeriesSchema>
