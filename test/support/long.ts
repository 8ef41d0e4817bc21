import { test } from 'vitest'

/** Whether this is `npm run test:long`: all that searches, kills, floods, weighs memory or runs chains for minutes. */
export const IS_LONG = process.env.LONG_TESTS === '1'

/** A row that only `npm run test:long` runs; `npm test` has another of its kind. */
export const longTest = test.runIf(IS_LONG)
