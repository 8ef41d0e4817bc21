import { request } from 'undici'
import { describe, expect, test } from 'vitest'
import { forAllTests } from '../support/for-tests.ts'
import { problemOf } from './problem-of.ts'
import { aListing, startRawSeller, startRelay } from './relay-world.ts'

const seller = forAllTests(() =>
  startRawSeller((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')),
)
const world = forAllTests(() =>
  startRelay({
    listings: [
      aListing(`${seller.url}/v1`),
      aListing('https://api.seller.example/v1', { id: 'x402.secure' }),
    ],
  }),
)

const call = (path: string, options: object = {}) => request(`${world.url}/${path}`, options)

describe('endpoints that are refused, with no connection made', () => {
  const rows = [
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    '///evil.example',
    '/\t/evil.example',
    'https:evil.example',
    'https:\\\\evil.example',
    'https://{host}@evil.example/',
    'https://user:pass@{host}/',
    'https://@{host}/',
    'https://evil.example#@{host}/',
    'https://{host}.evil.example/',
    'https://evil{host}/',
    'https://sub.{host}/',
    'https://{host}./',
    'https://{host}%2eevil.example/',
    'ftp://{host}/',
    'file:///etc/passwd',
    'gopher://127.0.0.1:6379/_PING',
    'data:text/html,x',
    'javascript:alert(1)',
    'wss://{host}/',
    'https://{host}:22/',
    'https://{host}:0/',
    'https://{host}:65536/',
    'https://{host}:443:80/',
    'https:///{host}/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://[::1]/',
    'https://[::ffff:7f00:1]/',
    'https://169.254.169.254/latest/meta-data/',
    'https://metadata.google.internal/',
    'relative/path',
    '?x=1',
    '*',
    '',
    ' /a',
    '/a b',
    '/a\r\nX-Injected: 1',
    '/a\0b',
    '/a#b',
    `/${'a'.repeat(3000)}`,
    '①②⑦.⓪.⓪.①',
  ]

  test.each(rows)('%j', async (row) => {
    const endpoint = row.replaceAll('{host}', `127.0.0.1:${seller.port}`)
    const before = seller.connections()
    const answer = await call(`x402.seller?endpoint=${encodeURIComponent(endpoint)}`)
    expect(answer.statusCode).toBe(400)
    const problem = await problemOf(answer)
    expect(problem).toMatchObject({ code: 'invalid-parameter' })
    expect(problem.errors).toMatchObject([{ in: 'query', name: 'endpoint' }])
    expect(seller.connections()).toBe(before)
  })

  test.each([...rows, 'http://{host}/'])('%j of a listing with https', async (row) => {
    const endpoint = encodeURIComponent(row.replaceAll('{host}', 'api.seller.example'))
    const answer = await call(`x402.secure?relay_info=1&endpoint=${endpoint}`)
    expect([answer.statusCode, await problemOf(answer)]).toMatchObject([
      400,
      { errors: [{ in: 'query', name: 'endpoint' }] },
    ])
  })

  test('endpoint given twice', async () => {
    const answer = await call('x402.seller?endpoint=/a&endpoint=https://evil.example/')
    expect(answer.statusCode).toBe(400)
    await answer.body.dump()
  })

  test.each([
    'HTTPS://API.Seller.Example/x',
    'https://api.seller.example:443/x',
    '/x',
    '/x?y=1&z',
    '/@x',
  ])('%s is on the seller’s origin', async (endpoint) => {
    const query = `relay_info=1&endpoint=${encodeURIComponent(endpoint)}`
    const answer = await call(`x402.secure?${query}`)
    expect(await answer.body.json()).toMatchObject({ seller_origin: 'https://api.seller.example' })
    expect(answer.statusCode).toBe(200)
  })
})
