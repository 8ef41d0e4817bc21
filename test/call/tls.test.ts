import { createServer, type Server } from 'node:https'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeCertificate } from '../support/certificate.ts'
import { listen } from '../support/listen.ts'
import { aListing, type RelayWorld, startRelay } from './relay-world.ts'

/** A seller with a certificate for one name, which this process trusts. */
const NAME = 'api.seller.example'

const pair = makeCertificate(NAME)
if (pair === null) console.warn('test/call/tls: skipped, because there is no openssl')

describe.skipIf(pair === null)('a seller over TLS', () => {
  const usual = getCACertificates('default')
  const requested: (string | undefined)[] = []
  let seller: Server
  let world: RelayWorld

  beforeAll(async () => {
    setDefaultCACertificates([...usual, pair?.cert ?? ''])
    seller = createServer({ ...pair }, (req, res) => {
      // The types know node:http's socket; over TLS it is a TLSSocket with the name asked for.
      requested.push('servername' in req.socket ? String(req.socket.servername) : undefined)
      res.end(`hello ${req.headers.host}`)
    })
    const port = await listen(seller)
    world = await startRelay({
      listings: [
        aListing(`https://${NAME}:${port}/`, { id: 'x402.named' }),
        aListing(`https://other.example:${port}/`, { id: 'x402.other' }),
        aListing(`https://127.0.0.1:${port}/`, { id: 'x402.literal' }),
      ],
    })
  })

  afterAll(async () => {
    setDefaultCACertificates(usual)
    await world.close()
    seller.close()
  })

  test('is called by its name, though the judged address is dialled', async () => {
    const answer = await request(`${world.url}/x402.named`)
    expect(answer.statusCode).toBe(200)
    expect(await answer.body.text()).toMatch(`hello ${NAME}:`)
    expect(requested.at(-1)).toBe(NAME)
  })

  test('is judged by its name, not by the address or by a Host the caller sends', async () => {
    for (const id of ['x402.other', 'x402.literal']) {
      const answer = await request(`${world.url}/${id}`, { headers: { Host: NAME } })
      expect(answer.statusCode).toBe(502)
      expect(answer.headers['proxy-status']).toContain('tls_certificate_error')
      await answer.body.dump()
    }
  })

  test('under an unknown authority is refused', async () => {
    setDefaultCACertificates(usual)
    const answer = await request(`${world.url}/x402.named`)
    expect(answer.statusCode).toBe(502)
    expect(answer.headers['proxy-status']).toContain('tls_certificate_error')
    await answer.body.dump()
  })
})
