/**
 * Walks with a list of its own, not the call stack, and stops at the first bound: depth costs
 * nothing. @param bounds `characters` are those of all strings and keys together
 */
export function isWithin(
  whole: unknown,
  bounds: { depth: number; nodes: number; characters: number },
): boolean {
  const waiting: { value: unknown; depth: number }[] = [{ value: whole, depth: 1 }]
  let { nodes, characters } = bounds
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, depth } = next
    const children = typeof value === 'object' ? Object.entries(value ?? {}) : []
    nodes -= 1
    characters -= lengthOf(value, children)
    if (nodes < waiting.length + children.length || characters < 0) return false
    if (children.length > 0 && depth >= bounds.depth) return false
    for (const [, child] of children) waiting.push({ value: child, depth: depth + 1 })
  }
  return true
}

/** Characters of a string, or of an object's keys. */
function lengthOf(value: unknown, children: readonly [string, unknown][]): number {
  if (typeof value === 'string') return value.length
  return Array.isArray(value) ? 0 : children.reduce((sum, [key]) => sum + key.length, 0)
}

/** Whether all references are local: readers would fetch others. The value must be bounded. */
export function hasLocalReferencesOnly(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, child]) => {
    const isReference = key === '$ref' || key === '$dynamicRef' || key === '$recursiveRef'
    if (isReference && typeof child === 'string') return child.startsWith('#')
    return hasLocalReferencesOnly(child)
  })
}
