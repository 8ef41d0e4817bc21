/** A result of one of several indexes; each sorts its own. */
export interface IndexResult<Data> {
  /** Where results are sorted: less the place among the results of its own index. */
  score: number
  data(): Promise<Data>
}

/**
 * The first results of several sorted indexes together. What a result is sorted by is known once its
 * data is read, so as many of each index are read as it takes: nothing that was left unread may come
 * before the last that is shown.
 *
 * @param results of all indexes, each sorted by `orderOf`
 */
export async function readFirst<Data>(
  results: readonly IndexResult<Data>[],
  limit: number,
  orderOf: (data: Data) => string,
): Promise<Data[]> {
  // Firsts of each index, then their seconds, and so on.
  const inTurn = results.toSorted((a, b) => b.score - a.score)
  for (let wanted = limit; ; wanted *= 2) {
    const lowest = inTurn[Math.min(wanted, inTurn.length) - 1]?.score ?? 0
    const read = inTurn.filter(({ score }) => score >= lowest)
    const rows = await Promise.all(
      read.map(async ({ score, data }) => {
        const read = await data()
        return { score, read, order: orderOf(read) }
      }),
    )
    const sorted = rows.toSorted((a, b) => (a.order < b.order ? -1 : 1))
    // The last one that was read of an index stands before all that was not.
    const end = sorted.findIndex(({ score }) => score === lowest)
    if (end + 1 >= limit || read.length === inTurn.length)
      return sorted.slice(0, limit).map(({ read }) => read)
  }
}
