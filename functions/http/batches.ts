/** Nobody waits for more than so many others. */
const BATCH_SIZE = 32

/**
 * Who asks within one turn of the event loop goes on at its end, after one another, and each time
 * they all wait (`await null`) one after the other again: so the work of many is done together before
 * any is answered. Sending goes deep into the operating system, which leaves nothing of a search in
 * the processor's caches: work that alternates with it takes half as long again. Who is alone is not
 * held up.
 *
 * @returns waits for the end of the turn
 */
export function createBatches(): () => Promise<void> {
  let batch = Promise.resolve()
  let room = 0
  const begin = () =>
    new Promise<void>((resolve) => {
      setImmediate(() => {
        room = 0
        resolve()
      })
    })
  return () => {
    if (room === 0) {
      room = BATCH_SIZE
      batch = begin()
    }
    room -= 1
    return batch
  }
}
