import { createServer, type IncomingMessage } from 'node:http'
import { Duplex } from 'node:stream'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'

type Socket = IncomingMessage['socket']

/** Node's parser takes it for "another protocol follows" and leaves the rest of its bytes alone. */
const STOP_PARSING = 2

/**
 * The parser would go on to the end of its 64 KiB buffer, and make objects and errors for a
 * thousand requests while everybody waits. Node has no public way to stop it: `assertParserStops`
 * checks at startup that this one works.
 */
export function stopParsing(socket: Socket): void {
  const parser: unknown = Reflect.get(socket, 'parser')
  if (typeof parser === 'object' && parser !== null)
    Reflect.set(parser, 'onIncoming', () => STOP_PARSING)
}

/**
 * Sends this Node three requests at once on an in-memory connection, and stops at the first.
 *
 * @throws OperatorError where the others are still parsed
 */
export function assertParserStops(stop: (socket: Socket) => void = stopParsing): void {
  let requests = 0
  const server = createServer(({ socket }) => {
    requests += 1
    stop(socket)
    socket.destroy()
  })
  const socket = new Duplex({ read() {}, write: (_bytes, _encoding, done) => done() })
  server.emit('connection', socket)
  socket.emit('data', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(3)))
  if (requests === 1) return
  throw new OperatorError(
    `Node ${process.version} does not stop reading a connection when it is told to: of three requests sent at once it parsed ${requests} instead of 1. Somebody who sends thousands at once could then hold up everybody else. Run the Node that npm ci installs.`,
  )
}
