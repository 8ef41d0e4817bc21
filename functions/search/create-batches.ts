/** What is asked: the work, which returns how it is answered. */
export type Task = () => () => void

/**
 * Nobody waits for more than so many others, and their responses still fit the memory that is lent
 * to them.
 */
const BATCH_SIZE = 32

/**
 * Puts off what is asked within one turn of the event loop to its end, and then does the work of
 * many together before any is answered. Sending goes deep into the operating system, which leaves
 * nothing of a search in the processor's caches: work that alternates with it takes half as long
 * again. A task that is alone is not held up.
 *
 * Tasks must not throw: there is nobody left to catch it.
 */
export function createBatches(): (task: Task) => void {
  let waiting: Task[] = []
  const run = () => {
    const tasks = waiting
    waiting = []
    for (let at = 0; at < tasks.length; at += BATCH_SIZE) {
      const answers = tasks.slice(at, at + BATCH_SIZE).map((work) => work())
      for (const answer of answers) answer()
    }
  }
  return (task) => {
    if (waiting.length === 0) setImmediate(run)
    waiting.push(task)
  }
}
