import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aListing, listen, type RelayWorld, startRelay } from './relay-world.ts'

/** A seller with a certificate for one name, under an authority this process trusts. */
const NAME = 'api.seller.example'

const missing = findMissing()
if (missing !== null) console.warn(`test/call/tls: skipped, because ${missing}`)

describe.skipIf(missing !== null)('a seller over TLS', () => {
  const dir = mkdtempSync(join(tmpdir(), 'waypost-tls-'))
  const usual = getCACertificates('default')
  const requested: (string | undefined)[] = []
  let seller: Server
  let world: RelayWorld

  beforeAll(async () => {
    issue(dir, NAME)
    setDefaultCACertificates([...usual, readFileSync(join(dir, 'ca.pem'), 'utf8')])
    const options = {
      key: readFileSync(join(dir, 'key.pem')),
      cert: readFileSync(join(dir, 'cert.pem')),
    }
    seller = createServer(options, (req, res) => {
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
    rmSync(dir, { recursive: true })
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

function findMissing(): string | null {
  try {
    execFileSync('openssl', ['version'])
    return null
  } catch {
    return 'there is no openssl to issue a certificate with'
  }
}

function issue(dir: string, name: string): void {
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: dir, stdio: ['ignore', 'ignore', 'ignore'] })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  writeFileSync(join(dir, 'san.txt'), `subjectAltName=DNS:${name}\n`)
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-days',
    '2',
    '-subj',
    '/CN=Test',
  )
  openssl('req', ...newKey, '-keyout', 'key.pem', '-out', 'request.pem', '-subj', `/CN=${name}`)
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2']
  openssl(
    'x509',
    '-req',
    '-in',
    'request.pem',
    ...signed,
    '-extfile',
    'san.txt',
    '-out',
    'cert.pem',
  )
}
