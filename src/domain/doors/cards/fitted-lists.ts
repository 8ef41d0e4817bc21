import { sizeOf } from './fitted-rows.ts'

/** An answer about one listing stays within this many bytes of JSON where its lists can be cut. */
export const CARD_BYTES = 3072
/** Bytes that `left_out` itself may take. */
const ROOM_TO_SAY_SO = 80

/**
 * The card with as many items of its lists as there is room for, the first ones of each; how many
 * are missing is said in `left_out`. Only lists are cut.
 *
 * @example fitLists({ id: 'a', tools: [x, y, z] }, 3072) → { id: 'a', tools: [x], left_out: { tools: 2 } }
 */
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
