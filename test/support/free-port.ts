import { createServer } from 'node:net'

/** Below what systems give to outgoing connections (from 32,768 or 49,152 on): those come and go. */
const FIRST = 15_000
const COUNT = 15_000

/**
 * A port of loopback that nobody listens on right now, for programs that cannot say which they took.
 * One of many, by chance: two that look at the same time find two.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const probe = createServer()
  probe.on('error', () => resolve(false))
  probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  return promise
}
