/** What Node itself makes of a burst: reads each body and refuses it. Tells its port, and its longest hold when asked. */
import { createServer } from 'node:http'
import { watchHolds } from './watch-holds.ts'

const longestHold = watchHolds()
const server = createServer(async (req, res) => {
  if (req.method === 'POST') {
    const pieces: unknown[] = []
    for await (const piece of req) pieces.push(piece)
    res.statusCode = 400
  }
  res.end('{}')
})
server.listen(0, '127.0.0.1', () => process.send?.({ address: server.address() }))
process.on('message', () => process.send?.({ rss: 0, held: longestHold(), loaded: 0 }))
process.once('disconnect', () => process.exit(0))
