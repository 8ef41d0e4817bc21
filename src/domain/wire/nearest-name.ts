/** How many edits away a known name may be to be offered. */
const MAX_EDITS = 3

/**
 * The known name nearest to a misspelt one, or null when none is near.
 *
 * @example findNearestName('catagories', ['categories', 'tags']) → 'categories'
 */
export function findNearestName(name: string, known: readonly string[]): string | null {
  let best: string | null = null
  let bestEdits = Math.min(MAX_EDITS, Math.max(1, Math.floor(name.length / 2))) + 1
  for (const candidate of known) {
    const edits = countEdits(name.toLowerCase(), candidate.toLowerCase())
    if (edits < bestEdits) {
      best = candidate
      bestEdits = edits
    }
  }
  return best
}

/** Levenshtein distance; both names are short (keys of a schema). */
function countEdits(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > MAX_EDITS) return MAX_EDITS + 1
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? MAX_EDITS + 1
}
