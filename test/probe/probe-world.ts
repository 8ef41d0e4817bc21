import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { type HttpLimits, PURPOSES } from '../../functions/net/guard.ts'
import { createHttpClient, type HttpClient } from '../../functions/net/http-client.ts'
import { createResolver } from '../../functions/net/resolver.ts'
import { parseConfig } from '../../functions/ports/config.ts'
import { createAnonymousProbes } from '../../functions/probes/lint.ts'
import type { Caller } from '../../functions/server/rate-limits.ts'

/** A server of a test on loopback. */
export interface Site {
  url: string
  port: number
  close(): Promise<void>
}

export function startSite(answer: RequestListener): Promise<Site> {
  return listen(createServer({ maxHeaderSize: 256 * 1024 }, answer))
}

/** A server that writes raw bytes: anything but HTTP. */
export async function startRawSite(onConnect: (socket: Socket) => void): Promise<Site> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onConnect(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

export async function listen(server: Server): Promise<Site> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** A client that may reach loopback, with bounds a test can wait for. */
export function createTestClient(limits: Partial<HttpLimits> = {}, dns?: string): HttpClient {
  return createHttpClient('probe', {
    config: parseConfig({ UNSAFE_ALLOW_PRIVATE_TARGETS: 'true' }),
    resolver: createResolver(dns === undefined ? undefined : [dns]),
    limits: { ...PURPOSES.probe.limits, ...limits },
  })
}

/** Runs that strangers ask for; they may reach loopback. */
export function createTestRuns() {
  const config = parseConfig({ UNSAFE_ALLOW_PRIVATE_TARGETS: 'true' })
  return createAnonymousProbes({ config, resolver: createResolver(undefined) })
}

export function aCaller(client: string, signal = new AbortController().signal): Caller {
  return { client, signal, socket: undefined }
}
