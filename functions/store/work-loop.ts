import { outsideOfRequests } from './schema/patience.ts'

/**
 * Runs once more when requested while running. A job added during the last check must not wait for
 * the timer; one added after it starts the next run, so the loop ends in the same step.
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
