/** How often is looked (milliseconds). */
const EVERY_MS = 1

/**
 * The longest turn of this process's event loop, in CPU time: on a machine that is busy otherwise, time
 * on the clock says more about the others.
 *
 * @returns asks for it (milliseconds), and begins anew
 */
export function watchHolds(): () => number {
  let longest = 0
  let last = cpuMs()
  setInterval(() => {
    const now = cpuMs()
    longest = Math.max(longest, now - last)
    last = now
  }, EVERY_MS).unref()
  return () => {
    const held = longest
    longest = 0
    return held
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
