import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import {
  createSlowReaders,
  type NodeHandler,
  type ReadLimits,
  serializeRequests,
} from '../../functions/server/connections.ts'
import { closeServer, listen } from '../support/listen.ts'

/** A server whose connections take turns as ours do, around a handler of the test's. */
export interface Answering {
  port: number
  connections(): number
  /** Bytes of answers that wait in the process for their readers. */
  heldBytes(): number
  close(): Promise<void>
}

export async function startAnswering(
  handler: NodeHandler,
  limits?: ReadLimits,
): Promise<Answering> {
  const server = createServer(serializeRequests(handler, createSlowReaders(limits)).handle)
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const port = await listen(server)
  return {
    port,
    connections: () => sockets.size,
    heldBytes: () => [...sockets].reduce((sum, { writableLength }) => sum + writableLength, 0),
    close: () => closeServer(server),
  }
}
