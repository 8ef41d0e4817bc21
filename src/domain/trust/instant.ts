import * as v from 'valibot'
import { isOnCalendar } from '../listing/listing-text.ts'

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/

/** A time as in evidence: ISO 8601, UTC, and on the calendar. */
export const InstantSchema = v.pipe(
  v.string(),
  v.regex(INSTANT, 'expected an ISO 8601 UTC time such as 2026-11-01T00:00:00Z'),
  v.check(
    (text) => !INSTANT.test(text) || (isOnCalendar(text) && !Number.isNaN(Date.parse(text))),
    'expected a time that exists',
  ),
)
