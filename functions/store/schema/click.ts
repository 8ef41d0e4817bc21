import type { ClickSource } from '../../../src/domain/wire/vocabulary.ts'

/** Everything kept of a click: it has no field for an address, agent, referrer or cookie. */
export interface Click {
  /** Hours since the epoch, UTC: the day and the hour, nothing finer. */
  hour: number
  listing_id: string
  /** The `search_id` of the search that produced the link. */
  sid: string | null
  pos: number | null
  src: ClickSource | null
  /** Crawlers, prefetches and HEAD requests: kept, flagged, not counted. */
  bot: boolean
}

/** A group of clicks as one parameter: one statement appends them in one commit. */
export function toJsonRows(clicks: readonly Click[]): string {
  return JSON.stringify(clicks.map((click) => ({ ...click, bot: Number(click.bot) })))
}

const HOUR_MS = 3_600_000
export const HOURS_A_DAY = 24

/** @example toHour(Date.UTC(2026, 0, 1, 5, 59)) → 490901 */
export function toHour(milliseconds: number): number {
  return Math.floor(milliseconds / HOUR_MS)
}

/** Days since the epoch, UTC. */
export function toDay(milliseconds: number): number {
  return Math.floor(toHour(milliseconds) / HOURS_A_DAY)
}

/** @example toDate(20_000) → '2024-10-04' */
export function toDate(day: number): string {
  return new Date(day * HOURS_A_DAY * HOUR_MS).toISOString().slice(0, 10)
}
