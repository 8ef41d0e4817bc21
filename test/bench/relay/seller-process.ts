import { createServer } from 'node:net'
import { aTransaction, settledHeaders } from '../../receipts/observed-relay.ts'
import { listen } from '../../support/listen.ts'

/**
 * The cheapest seller there can be, so that the machine's time goes to the proxies: bytes in, bytes
 * out. `/big/<MiB>` streams that many MiB, anything else gets one short JSON answer; with `settles`
 * it names the transaction that paid for it.
 */
const SETTLED = Object.entries(settledHeaders('x402-v2', aTransaction(1))).map(
  (pair) => `${pair.join(': ')}\r\n`,
)
const BODY = JSON.stringify({ temperature_c: 7.5, place: 'somewhere', at: '2026-11-20T00:00:00Z' })
const HEAD = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${process.argv.includes('settles') ? SETTLED.join('') : ''}`
const CHUNK = Buffer.alloc(256 * 1024, 'x')

const server = createServer((socket) => {
  let received = ''
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1')
    for (let end = received.indexOf('\r\n\r\n'); end >= 0; end = received.indexOf('\r\n\r\n')) {
      const head = received.slice(0, end)
      received = received.slice(end + 4)
      const mebibytes = /^GET \/big\/(\d+)/.exec(head)?.[1]
      const isLast = /\r\nconnection: close/i.test(head)
      if (mebibytes === undefined) {
        const answer = `${HEAD}Content-Length: ${BODY.length}\r\n\r\n${BODY}`
        if (isLast) socket.end(answer)
        else socket.write(answer)
      } else void stream(Number(mebibytes))
    }
  })

  async function stream(mebibytes: number): Promise<void> {
    socket.write(`${HEAD}Content-Length: ${mebibytes * 1024 * 1024}\r\n\r\n`)
    for (let sent = 0; sent < mebibytes * 4 && !socket.destroyed; sent += 1)
      if (!socket.write(CHUNK)) await new Promise((resolve) => socket.once('drain', resolve))
  }
})
console.log(await listen(server))
