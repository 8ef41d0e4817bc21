import { createServer } from 'node:net'
import { listen } from '../call/relay-world.ts'

/** The cheapest seller there can be, so that the machine's time goes to the relay: one short JSON answer. */
const BODY = JSON.stringify({ temperature_c: 7.5, place: 'somewhere', at: '2026-11-20T00:00:00Z' })
const ANSWER = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`

const server = createServer((socket) => {
  let received = ''
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1')
    for (let end = received.indexOf('\r\n\r\n'); end >= 0; end = received.indexOf('\r\n\r\n')) {
      const isLast = /\r\nconnection: close/i.test(received.slice(0, end))
      received = received.slice(end + 4)
      if (isLast) socket.end(ANSWER)
      else socket.write(ANSWER)
    }
  })
})
console.log(await listen(server))
