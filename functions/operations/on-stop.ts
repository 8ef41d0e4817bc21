/** The parent process, read before any startup work. */
const SHELL = process.ppid
/** How often a process that npm started looks whether its shell is still there (milliseconds). */
const LOOK_EVERY = 500

/**
 * Shuts the process down in order once asked to. npm sends a signal to the shell between it and us,
 * and most shells die of it without passing it on: a process that npm's scripts started ends when
 * that shell is gone.
 *
 * @param stop called once; the process exits with 0 when it is done
 */
export function onStop(stop: () => Promise<void>): void {
  let isStopping = false
  const end = () => {
    if (isStopping) return
    isStopping = true
    void stop().then(() => process.exit(0))
  }
  process.once('SIGTERM', end)
  process.once('SIGINT', end)
  if (process.env.npm_lifecycle_script?.includes('functions/commands/') !== true) return
  setInterval(() => {
    if (process.ppid !== SHELL) end()
  }, LOOK_EVERY).unref()
}
