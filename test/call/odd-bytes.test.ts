import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { aListing, allInFlight, startRelay } from './relay-world.ts'
import { GET, tell } from './tell-seller.ts'

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n'

test.each(['\x01', '\x0b', '\x1f', '\x7f', '\0'])(
  'a seller’s header with the byte %j: 502 or passed, never a crash',
  async (byte) => {
    const { answer } = await tell((socket) =>
      socket.end(Buffer.from(`${OK}X-A: a${byte}b\r\n\r\nhi`, 'latin1')),
    )
    expect([200, 502]).toContain(answer.status)
    if (answer.status === 502)
      expect(answer.text).toMatch(/^proxy-status: directory-relay; error=/im)
  },
)

test.each(['\x01', '\x0b', '\x1f', '\x7f', '\0'])(
  'a caller’s header with the byte %j: 400 and nothing sent, or passed as it is',
  async (byte) => {
    const { answer, requests } = await tell((socket) => socket.end(`${OK}\r\nhi`), {
      request: GET.replace('\r\n\r\n', `\r\nX-A: a${byte}b\r\n\r\n`),
    })
    expect([200, 400]).toContain(answer.status)
    if (answer.status === 400) expect(requests).toEqual([])
    else expect(requests[0]).toContain(`X-A: a${byte}b\r\n`)
  },
)

test('a caller that hangs up while the name is looked up leaves nothing behind', async () => {
  const lookedUp = Promise.withResolvers<void>()
  const addresses = () => {
    lookedUp.resolve()
    return new Promise<never>(() => {})
  }
  await using world = await startRelay({
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
})
