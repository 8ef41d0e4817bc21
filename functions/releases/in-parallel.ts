/** Concurrent requests to the store. */
const AT_ONCE = 16

/** Does the work for each, some at once. The first failure ends it when running ones are done. */
export async function inParallel<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  let next = 0
  let isOver = false
  const worker = async () => {
    for (let at = next++; at < items.length && !isOver; at = next++) {
      const item = items[at]
      if (item !== undefined)
        await work(item).catch((error: unknown) => {
          isOver = true
          throw error
        })
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}
