/** Time as a port, so that tests can set it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** @throws an error with the code ETIMEOUT if the work takes longer; the work itself goes on */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const late = Object.assign(new Error('no answer in time'), { code: 'ETIMEOUT' })
  const timer = setTimeout(() => reject(late), milliseconds)
  return Promise.race([work, promise]).finally(() => clearTimeout(timer))
}
