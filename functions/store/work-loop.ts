import { outsideOfRequests } from './schema/patience.ts'

/**
 * Runs once more when it was asked to while it ran. A job added while the last look was under way must
 * not wait for the timer; one that comes after it begins the next, so it ends in the same step.
 */
export function createLoop(work: () => Promise<void>) {
  let running: Promise<void> | null = null
  let isPoked = false
  const loop = async () => {
    try {
      while (isPoked) {
        isPoked = false
        await work()
      }
    } finally {
      running = null
    }
  }
  return {
    run: () => {
      isPoked = true
      running ??= outsideOfRequests(loop)
      return running
    },
    idle: async () => running,
  }
}
