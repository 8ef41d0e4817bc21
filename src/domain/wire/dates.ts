import * as v from 'valibot'

/** Milliseconds. */
export const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000] as const

const FORM = /^\d{4}-\d\d-\d\d$/
const EXPECTED = 'expected a date that exists, such as 2026-11-20'

/** A day as in content files: `YYYY-MM-DD`, and on the calendar. */
export const CalendarDateSchema = v.pipe(
  v.string(EXPECTED),
  v.regex(FORM, EXPECTED),
  v.check((text) => !FORM.test(text) || isOnCalendar(text), EXPECTED),
)

/** `Date.parse` alone moves 30 February to March. @param text starts with `YYYY-MM-DD` */
export function isOnCalendar(text: string): boolean {
  const day = text.slice(0, 10)
  const time = Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day)
}

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
