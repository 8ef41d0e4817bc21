import { DAY_MS } from '../wire/shapes.ts'

const MONTHS = [
  ...['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august'],
  ...['september', 'october', 'november', 'december'],
]

/**
 * Days that a text names, as ISO dates, and the text without them.
 *
 * @param now milliseconds since the epoch
 * @example readDates('rain tomorrow', Date.UTC(2026, 0, 1)) → { dates: ['2026-01-02'], rest: 'rain  ' }
 */
export function readDates(text: string, now: number): { dates: string[]; rest: string } {
  const dates: string[] = []
  const today = Math.floor(now / DAY_MS) * DAY_MS
  const take = (ms: number) => {
    if (Number.isFinite(ms)) dates.push(new Date(ms).toISOString().slice(0, 10))
    return ' '
  }
  const rest = text
    .replace(/\b(\d{4})-(\d\d)-(\d\d)\b/g, (whole) => take(Date.parse(whole)))
    .replace(
      /\b(\d{1,2})(?:st|nd|rd|th)?\.? (?:of )?([a-z]{3,9}),? (\d{4})\b/gi,
      (whole, day, month, year) => {
        const at = monthOf(month)
        return at < 0 ? whole : take(Date.UTC(Number(year), at, Number(day)))
      },
    )
    .replace(
      /\b([a-z]{3,9}) (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})\b/gi,
      (whole, month, day, year) => {
        const at = monthOf(month)
        return at < 0 ? whole : take(Date.UTC(Number(year), at, Number(day)))
      },
    )
    .replace(/\b(today|tonight|tomorrow|yesterday)\b/gi, (word: string) =>
      take(today + (OFFSETS[word.toLowerCase()] ?? 0) * DAY_MS),
    )
  return { dates, rest }
}

const OFFSETS: Readonly<Record<string, number>> = {
  today: 0,
  tonight: 0,
  tomorrow: 1,
  yesterday: -1,
}

function monthOf(text: string): number {
  return MONTHS.findIndex(
    (month) => month === text.toLowerCase() || month.slice(0, 3) === text.toLowerCase(),
  )
}
