import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listen } from './listen.ts'

/** A wire between the service and its database that the test can cut and mend. */
export interface TcpProxy {
  port: number
  cut(): void
  /** Passes nothing on, and lets nobody know. */
  hold(): void
  mend(): void
  close(): Promise<void>
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let isComplete = true
  let isHeld = false
  const server = createServer((near) => {
    if (!isComplete) return void near.destroy()
    if (isHeld) {
      sockets.add(near)
      near.on('error', () => {})
      return
    }
    const far = connect(targetPort, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  const port = await listen(server)
  const cut = () => {
    isComplete = false
    for (const socket of sockets) socket.destroy()
  }
  return {
    port,
    cut,
    hold: () => {
      isHeld = true
      for (const socket of sockets) socket.unpipe().pause()
    },
    mend: () => {
      // What was held has missed some of its bytes' turns: it begins anew.
      if (isHeld) for (const socket of sockets) socket.destroy()
      isHeld = false
      isComplete = true
    },
    close: async () => {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
