/** Memory for a table of each cursor of a search, kept for the next search: searches are synchronous. */
export function createTables(): (slot: number, size: number) => Float64Array {
  const tables: Float64Array[] = []
  return (slot, size) => {
    const known = tables[slot]
    if (known !== undefined && known.length >= size) return known
    const table = new Float64Array(size)
    tables[slot] = table
    return table
  }
}
