/** How many pieces may wait: per client and in total. */
const MAX_WAITING = { perClient: 32, inAll: 512 }

export type FairQueue = ReturnType<typeof createFairQueue>

/** Does work one piece at a time, in turns between clients: nobody waits for all of another's. */
export function createFairQueue(limits = MAX_WAITING) {
  // Clients in the order of their turns; a Map keeps insertion order.
  const waiting = new Map<string, (() => Promise<void>)[]>()
  let count = 0
  let isRunning = false
  const takeNext = (): (() => Promise<void>) | undefined => {
    const [turn] = waiting
    if (turn === undefined) return undefined
    const [client, pieces] = turn
    const piece = pieces.shift()
    waiting.delete(client)
    if (pieces.length > 0) waiting.set(client, pieces)
    count -= 1
    return piece
  }
  const runAll = async () => {
    isRunning = true
    for (let piece = takeNext(); piece !== undefined; piece = takeNext()) {
      await piece()
      // Lets everything else in the process run between two pieces.
      await new Promise((resolve) => setImmediate(resolve))
    }
    isRunning = false
  }
  return {
    /** @returns when the work is done, or `full` at once where the queue is full */
    async run(client: string, work: () => Promise<void>): Promise<'done' | 'full'> {
      const own = waiting.get(client) ?? []
      if (own.length >= limits.perClient || count >= limits.inAll) return 'full'
      const { promise, resolve, reject } = Promise.withResolvers<'done'>()
      own.push(() => work().then(() => resolve('done'), reject))
      waiting.set(client, own)
      count += 1
      if (!isRunning) void runAll()
      return promise
    },
  }
}
