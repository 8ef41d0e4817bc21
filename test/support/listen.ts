import type { Server } from 'node:http'
import type { AddressInfo, Server as TcpServer } from 'node:net'

/** On a free port of loopback, which it returns. */
export function listen(server: TcpServer): Promise<number> {
  return new Promise((resolve) =>
    // A listening TCP server's address is an AddressInfo; the type also covers pipes.
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  )
}

export function closeServer(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
