import { cutText } from '../wire/text.ts'
import type { CompactRow } from './search-response.ts'

/** An answer about one listing is cut to this many bytes of JSON, as far as its lists allow. */
const CARD_BYTES = 3072
/** How many bytes `left_out` itself may take. */
const ROOM_TO_SAY_SO = 80

/** Keeps as many first items of each list as there is room for; `left_out` counts the others. */
export function fitLists<Card extends Record<string, unknown>>(
  card: Card,
  names: readonly (keyof Card & string)[],
): Card & { left_out?: Record<string, number> } {
  let size = sizeOf(card)
  if (size <= CARD_BYTES) return card
  const lists = names.flatMap((name) => {
    const items = card[name]
    if (!Array.isArray(items)) return []
    // Includes the comma after each item.
    const bytes = items.reduce((sum, item) => sum + sizeOf(item) + 1, 0)
    return [{ name, kept: [...items], count: items.length, bytes }]
  })
  while (size > CARD_BYTES - ROOM_TO_SAY_SO) {
    const [longest] = lists.filter(({ kept }) => kept.length > 1).sort((a, b) => b.bytes - a.bytes)
    if (longest === undefined) break
    const bytes = sizeOf(longest.kept.pop()) + 1
    longest.bytes -= bytes
    size -= bytes
  }
  const missing = lists
    .map(({ name, kept, count }) => [name, count - kept.length] as const)
    .filter(([, count]) => count > 0)
  return {
    ...card,
    ...Object.fromEntries(lists.map(({ name, kept }) => [name, kept])),
    left_out: Object.fromEntries(missing),
  }
}

/** A search for five results stays within this many bytes of JSON, because an agent pays for each byte. */
const ANSWER_BYTES = 2048
/** The lengths to which summaries are cut, tried in this order until the answer fits. */
const SUMMARY_LENGTHS = [140, 100, 70, 40]

/** How many bytes one call in an answer may take: three calls stay within a kilobyte and a half. */
export const BYTES_A_CALL = 500

/**
 * Shortens rows until they fit. Each row keeps what its call needs; the first rows keep the most.
 * @param otherBytes size of the answer without rows
 * @param shorten functions that each remove one thing, the least needed first
 */
export function fitCalls<Row>(
  rows: readonly Row[],
  otherBytes: number,
  shorten: (row: Row, at: number) => readonly ((row: Row) => Row)[],
): Row[] {
  const ways = rows.map((row, at) => {
    const ways = [{ row, bytes: sizeOf(row) }]
    for (const leaveOut of shorten(row, at)) {
      const shorter = leaveOut(ways.at(-1)?.row ?? row)
      ways.push({ row: shorter, bytes: sizeOf(shorter) })
    }
    return ways
  })
  const leastOf = (own: readonly { bytes: number }[]) => own.at(-1)?.bytes ?? 0
  let room = BYTES_A_CALL * rows.length - otherBytes - rows.length
  for (const own of ways) room -= leastOf(own)
  return ways.flatMap((own) => {
    const way = own.find(({ bytes }) => bytes - leastOf(own) <= room) ?? own.at(-1)
    if (way === undefined) return []
    room -= way.bytes - leastOf(own)
    return [way.row]
  })
}

const encoder = new TextEncoder()

/** Cuts summaries to the available room; a page with more than five rows has proportionally more room. */
export function fitRows(rows: readonly CompactRow[], otherBytes: number): CompactRow[] {
  const room = ANSWER_BYTES * Math.max(1, rows.length / 5) - otherBytes
  let fitted = [...rows]
  for (const length of SUMMARY_LENGTHS)
    if (sizeOf(fitted) > room)
      fitted = rows.map((row) => ({ ...row, summary: cutText(row.summary, length) }))
  return fitted
}

export function sizeOf(value: unknown): number {
  return encoder.encode(JSON.stringify(value)).length
}
