import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { aListing, allInFlight, exchangeRaw, startRawSeller, startRelay } from './relay-world.ts'

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n'

test.each(['\x01', '\x0b', '\x1f', '\x7f', '\0'])(
  'a seller’s header with the byte %j: 502 or passed, never a crash',
  async (byte) => {
    const seller = await startRawSeller((socket) =>
      socket.end(Buffer.from(`${OK}X-A: a${byte}b\r\n\r\nhi`, 'latin1')),
    )
    const world = await startRelay({ listings: [aListing(seller.origin)] })
    const answer = await exchangeRaw(
      world.port,
      'GET /api/v1/call/x402.seller HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n',
    )
    expect([200, 502]).toContain(answer.status)
    if (answer.status === 502)
      expect(answer.text).toMatch(/^proxy-status: directory-relay; error=/im)
    await world.close()
    await seller.close()
  },
)

test.each(['\x01', '\x0b', '\x1f', '\x7f', '\0'])(
  'a caller’s header with the byte %j: 400 and nothing sent, or passed as it is',
  async (byte) => {
    const seller = await startRawSeller((socket) => socket.end(`${OK}\r\nhi`))
    const world = await startRelay({ listings: [aListing(seller.origin)] })
    const answer = await exchangeRaw(
      world.port,
      `GET /api/v1/call/x402.seller HTTP/1.1\r\nHost: w\r\nX-A: a${byte}b\r\nConnection: close\r\n\r\n`,
    )
    expect([200, 400]).toContain(answer.status)
    if (answer.status === 400) expect(seller.requests).toEqual([])
    else expect(seller.requests[0]).toContain(`X-A: a${byte}b\r\n`)
    await world.close()
    await seller.close()
  },
)

test('a caller that hangs up while the name is looked up leaves nothing behind', async () => {
  const lookedUp = Promise.withResolvers<void>()
  const addresses = () => {
    lookedUp.resolve()
    return new Promise<never>(() => {})
  }
  const world = await startRelay({
    listings: [aListing('http://seller.example/')],
    resolver: { addresses, txt: async () => [] },
    limits: { inFlight: allInFlight(1) },
  })
  const socket = connect(world.port, '127.0.0.1')
  socket.write('GET /api/v1/call/x402.seller HTTP/1.1\r\nHost: w\r\nX-PAYMENT: p\r\n\r\n')
  await lookedUp.promise
  expect(world.logged).toEqual([])
  socket.destroy()
  await expect.poll(() => world.logged.length).toBe(1)
  await world.close()
})
