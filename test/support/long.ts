import { test } from 'vitest'

/** Whether this is `npm run test:long`: all that searches, kills, floods, weighs memory or runs chains for minutes. */
export const IS_LONG = process.env.LONG_TESTS === '1'

/** Draws of a property: a fifth of them in `npm test`. */
export const drawsOf = (count: number) => (IS_LONG ? count : Math.ceil(count / 5))

/** A row that only `npm run test:long` runs; `npm test` has another of its kind. */
export const longTest = test.runIf(IS_LONG)
