import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Expectation, parseExpectation, toExpectText } from '../../src/domain/relay/pins.ts'
import { aListing, startRelay } from '../call/relay-world.ts'
import { forAllTests } from '../support/for-tests.ts'
import { startSite } from '../support/site.ts'
import { offer as anOffer, encode, PAYEE, THIEF } from './pinned-world.ts'

const BASE = 'eip155:8453'
const COIN = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const DIGEST = 'd'.repeat(43)

const offer = (changes: object = {}) => anOffer({ network: BASE, asset: COIN, ...changes })
const payment = (accepted: object, to = PAYEE, value = '10000') =>
  encode({ x402Version: 2, accepted, payload: { authorization: { to, value } } })
const termsOf = (...accepts: object[]) => ({ x402Version: 2, accepts })

/** What the seller answers to an unpaid call. */
let unpaid: (res: ServerResponse) => void = () => {}
let requested: IncomingMessage[] = []

const seller = forAllTests(() =>
  startSite((req, res) => {
    requested.push(req)
    const isPaid = req.headers['payment-signature'] ?? req.headers['x-payment']
    if (isPaid === undefined) unpaid(res)
    else res.end('paid for')
  }),
)
const relay = forAllTests(() =>
  startRelay({
    listings: [aListing(`http://127.0.0.1:${seller.port}/`, { digest: DIGEST })],
  }),
)
beforeEach(() => {
  requested = []
  unpaid = inHeader(termsOf(offer()))
})

function inHeader(terms: object) {
  return (res: ServerResponse) => {
    res.writeHead(402, { 'PAYMENT-REQUIRED': encode(terms) })
    res.end('{}')
  }
}

function inBody(terms: object) {
  return (res: ServerResponse) => {
    res.writeHead(402, { 'content-type': 'application/json' })
    res.end(JSON.stringify(terms))
  }
}

async function call(expectation: Expectation | string, headers: Record<string, string> = {}) {
  const value = typeof expectation === 'string' ? expectation : toExpectText(expectation)
  const answer = await fetch(`${relay.url}/x402.seller`, {
    headers: { 'Call-Expect': value, ...headers },
  })
  const text = await answer.text()
  const { code, changed = [] } = answer.status === 409 ? JSON.parse(text) : {}
  const what: string[] = changed.map((each: { what: string }) => each.what)
  return { status: answer.status, text, code, what, headers: answer.headers }
}

const PINNED: Expectation = { digest: DIGEST, payee: [`${BASE}:${PAYEE}`], max_usd: 0.01 }

describe('what is as expected', () => {
  test('passes, terms unchanged, and the seller never sees the header', async () => {
    const { status, headers } = await call(PINNED)
    expect([status, headers.get('payment-required')]).toEqual([402, encode(termsOf(offer()))])
    expect(requested[0]?.headers).not.toHaveProperty('call-expect')
  })

  test('passes with its payment', async () => {
    const { status, text } = await call(PINNED, { 'PAYMENT-SIGNATURE': payment(offer()) })
    expect([status, text]).toEqual([200, 'paid for'])
  })

  test('passes where one of several offers is so, as the payment is judged again', async () => {
    unpaid = inHeader(termsOf(offer({ payTo: THIEF }), offer()))
    expect((await call(PINNED)).status).toBe(402)
    expect(
      (await call(PINNED, { 'PAYMENT-SIGNATURE': payment(offer({ payTo: THIEF })) })).what,
    ).toEqual(['payee'])
  })

  test('passes whole in version 1, body and all', async () => {
    const terms = {
      x402Version: 1,
      accepts: [offer({ network: 'base', maxAmountRequired: '10000', amount: undefined })],
    }
    unpaid = inBody(terms)
    const { status, text } = await call(PINNED)
    expect([status, JSON.parse(text)]).toEqual([402, JSON.parse(JSON.stringify(terms))])
  })
})

describe('a compressed 402', () => {
  const v1 = (more: object = {}) => ({
    x402Version: 1,
    accepts: [offer({ network: 'base', maxAmountRequired: '10000', amount: undefined })],
    ...more,
  })
  const inGzip = (terms: object) => (res: ServerResponse) => {
    res.writeHead(402, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
    res.end(gzipSync(JSON.stringify(terms)))
  }

  test('is judged by what it unpacks to, and passes as it came', async () => {
    unpaid = inGzip(v1())
    const { status, text, headers } = await call(PINNED)
    expect([status, JSON.parse(text)]).toEqual([402, JSON.parse(JSON.stringify(v1()))])
    expect(headers.get('content-encoding')).toBe('gzip')
    unpaid = inGzip(termsOf(offer({ payTo: THIEF })))
    expect(await call(PINNED)).toMatchObject({ status: 409, what: ['payee'] })
  })

  test('that unpacks to more than 256 KiB is not passed on, and says so', async () => {
    unpaid = inGzip(v1({ error: ' '.repeat(8 * 1024 * 1024) }))
    const { status, text } = await call(PINNED)
    expect([status, JSON.parse(text)]).toMatchObject([
      502,
      {
        code: 'seller-unreachable',
        detail: expect.stringContaining('262144 bytes when decompressed'),
      },
    ])
  })
})

describe('what is not', () => {
  test('another digest is refused before the seller is asked', async () => {
    expect(await call({ ...PINNED, digest: 'e'.repeat(43) })).toMatchObject({
      status: 409,
      code: 'changed',
      what: ['digest'],
    })
    expect(requested).toEqual([])
  })

  test.each([
    ['another payee', inHeader(termsOf(offer({ payTo: THIEF }))), ['payee']],
    ['a higher price', inHeader(termsOf(offer({ amount: '10001' }))), ['price']],
    ['a price in a coin nobody knows', inHeader(termsOf(offer({ asset: THIEF }))), ['price']],
    [
      'the payee on another chain',
      inHeader(termsOf(offer({ network: 'eip155:1' }))),
      ['payee', 'price'],
    ],
    [
      'another payee in version 1',
      inBody({ x402Version: 1, accepts: [offer({ payTo: THIEF })] }),
      ['payee'],
    ],
    [
      'terms that cannot be read',
      (res: ServerResponse) => res.writeHead(402).end('pay me'),
      ['payee', 'price'],
    ],
    [
      'a ceiling above the price',
      inHeader(termsOf(offer({ scheme: 'upto', amount: '99999999' }))),
      ['price'],
    ],
    [
      'a good header with a bad body',
      (res: ServerResponse) => {
        res.writeHead(402, { 'PAYMENT-REQUIRED': encode(termsOf(offer())) })
        res.end(JSON.stringify({ x402Version: 1, accepts: [offer({ payTo: THIEF })] }))
      },
      ['payee'],
    ],
    [
      'a challenge of MPP that pays another',
      (res: ServerResponse) => {
        const request = encode({
          amount: '10000',
          currency: COIN,
          recipient: THIEF,
          methodDetails: { chainId: 8453 },
        })
        res.setHeader(
          'WWW-Authenticate',
          `Payment id="a", realm="r", method="evm", intent="charge", request="${request}"`,
        )
        res.writeHead(402).end()
      },
      ['payee'],
    ],
  ])('%s is refused, and its terms are not passed on', async (_, answer, what) => {
    unpaid = answer
    const seen = await call(PINNED)
    expect(seen).toMatchObject({ status: 409, code: 'changed', what })
    expect(seen.headers.get('payment-required')).toBeNull()
  })

  test.each([
    [
      'pays another',
      { 'PAYMENT-SIGNATURE': payment(offer({ payTo: THIEF }), THIEF) },
      ['payee', 'payee'],
    ],
    [
      'says one payee and signs for another',
      { 'PAYMENT-SIGNATURE': payment(offer(), THIEF) },
      ['payee'],
    ],
    [
      'says one amount and signs for another',
      { 'PAYMENT-SIGNATURE': payment(offer(), PAYEE, '99999') },
      ['price'],
    ],
    [
      'pays another in version 1',
      {
        'X-PAYMENT': encode({
          x402Version: 1,
          scheme: 'exact',
          network: 'base',
          payload: { authorization: { to: THIEF, value: '1' } },
        }),
      },
      ['payee'],
    ],
    [
      'says one payee and amount and permits another',
      {
        'PAYMENT-SIGNATURE': encode({
          ...{ x402Version: 2, accepted: offer() },
          payload: {
            permit2Authorization: {
              permitted: { token: COIN, amount: '99999' },
              witness: { to: THIEF },
            },
          },
        }),
      },
      ['payee', 'price'],
    ],
    ['cannot be read', { 'X-PAYMENT': 'bm90IGpzb24' }, ['payee', 'price']],
    [
      'answers a challenge that cannot be read',
      { Authorization: `Payment ${encode({ challenge: {}, payload: {} })}` },
      ['payee', 'price'],
    ],
  ])('a payment that %s reaches nobody', async (_, headers, what) => {
    expect(await call(PINNED, headers)).toMatchObject({ status: 409, what })
    expect(requested).toEqual([])
  })

  test('terms without an end are given up, not gathered', async () => {
    unpaid = (res) => {
      res.writeHead(402)
      const chunk = Buffer.alloc(64 * 1024, 'a')
      const more = () => {
        while (!res.destroyed && res.write(chunk));
      }
      res.on('drain', more)
      more()
    }
    expect((await call(PINNED)).status).toBe(502)
  })
})

describe('the header', () => {
  test.each([
    '',
    'digest',
    'digest=short',
    'payee=0x11',
    'max_usd=-1',
    'max_usd=1e9',
    'max_usd=1, max_usd=2',
    'price=1',
  ])('%j is refused with what would be right', async (value) => {
    const { status, text } = await call(value === '' ? ',' : value)
    expect([status, JSON.parse(text).errors[0].name]).toEqual([400, 'Call-Expect'])
    expect(requested).toEqual([])
  })

  test('is read as it was written', () => {
    const payee = fc.constantFrom(`${BASE}:${PAYEE}`, `eip155:1:${THIEF}`)
    const written = fc.record(
      {
        digest: fc.constant(DIGEST),
        payee: fc.array(payee, { minLength: 1, maxLength: 3 }),
        max_usd: fc.integer({ min: 0, max: 1_000_000_000 }).map((units) => units / 1_000_000),
      },
      { requiredKeys: ['max_usd'] },
    )
    fc.assert(
      fc.property(written, (expectation) => {
        expect(parseExpectation(['Call-Expect', toExpectText(expectation)])).toEqual(expectation)
      }),
    )
  })
})
