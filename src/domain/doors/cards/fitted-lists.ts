import { cutText } from '../../derived/cut-text.ts'
import type { CompactRow } from '../../search/search-response.ts'

/** An answer about one listing stays within this many bytes of JSON where its lists can be cut. */
export const CARD_BYTES = 3072
/** Bytes that `left_out` itself may take. */
const ROOM_TO_SAY_SO = 80

/** The first items of its lists, as there is room for; `left_out` counts the others. */
export function fitLists<Card extends Record<string, unknown>>(
  card: Card,
  names: readonly (keyof Card & string)[],
): Card & { left_out?: Record<string, number> } {
  let size = sizeOf(card)
  if (size <= CARD_BYTES) return card
  const lists = names.flatMap((name) => {
    const items = card[name]
    // With the comma behind it.
    return Array.isArray(items)
      ? [{ name, items, sizes: items.map((item) => sizeOf(item) + 1) }]
      : []
  })
  const kept = new Map(lists.map(({ name, items }) => [name, items.length]))
  const bytesOf = ({ name, sizes }: (typeof lists)[number]) =>
    sizes.slice(0, kept.get(name)).reduce((sum, each) => sum + each, 0)
  while (size > CARD_BYTES - ROOM_TO_SAY_SO) {
    const [longest] = lists
      .filter(({ name }) => (kept.get(name) ?? 0) > 1)
      .sort((a, b) => bytesOf(b) - bytesOf(a))
    if (longest === undefined) break
    const last = (kept.get(longest.name) ?? 0) - 1
    kept.set(longest.name, last)
    size -= longest.sizes[last] ?? 0
  }
  const cut = lists.map(({ name, items }) => [name, items.slice(0, kept.get(name))])
  const missing = lists
    .map(({ name, items }) => [name, items.length - (kept.get(name) ?? 0)] as const)
    .filter(([, count]) => count > 0)
  return { ...card, ...Object.fromEntries(cut), left_out: Object.fromEntries(missing) }
}

/** A search of five stays within this many bytes of JSON: an agent pays for each of them. */
export const ANSWER_BYTES = 2048
/** The lengths summaries are cut to, one after the other, until the answer fits. */
const SUMMARY_LENGTHS = [140, 100, 70, 40]

const encoder = new TextEncoder()

/** Cuts summaries to the room there is; a page larger than five has more of it in proportion. */
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
