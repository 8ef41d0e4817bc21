import { text as readText } from 'node:stream/consumers'
import { x402Client } from '@x402/core/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWaypost, type Waypost } from '../../packages/client/src/waypost.ts'
import { aListing, type RelayWorld, startRelay } from '../call/relay-world.ts'
import { type Site, startSite } from '../support/site.ts'

const NETWORK = 'eip155:84532'
const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const PAYEE = `0x${'1'.repeat(40)}`
const TERMS = {
  x402Version: 2,
  resource: { url: 'https://seller.example/paid' },
  accepts: [
    { scheme: 'exact', network: NETWORK, amount: '90000', asset: USDC, payTo: PAYEE },
    { scheme: 'exact', network: NETWORK, amount: '10000', asset: USDC, payTo: PAYEE },
    { scheme: 'exact', network: NETWORK, amount: '1', asset: '0xanybodyscoin', payTo: PAYEE },
  ],
}
const PAID = { rail: 'x402', usd: 0.01, payee: `${NETWORK}:${PAYEE}` }
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')

let seller: Site
let relay: RelayWorld
let waypost: Waypost
let requests: { method: string | undefined; payment: unknown; body: string; type: unknown }[] = []
beforeAll(async () => {
  seller = await startSite(async (req, res) => {
    const body = await readText(req)
    const payment = req.headers['payment-signature']
    requests.push({ method: req.method, payment, body, type: req.headers['content-type'] })
    if (req.url === '/broken' && payment !== undefined) return void res.destroy()
    if (payment === undefined)
      return void res.writeHead(402, { 'payment-required': encode(TERMS) }).end('{}')
    res.writeHead(200, { 'payment-response': encode({ success: true, transaction: '0x2' }) })
    res.end('{"sold":true}')
  })
  const moved = { reason: 'moved', at: null, moved_to: 'x402.seller' } as const
  relay = await startRelay({
    listings: [aListing(`${seller.url}/paid`)],
    gone: [
      { ...moved, id: 'x402.former' },
      { ...moved, id: 'x402.elsewhere', another_host: true },
    ],
  })
  waypost = createWaypost({ baseUrl: `http://127.0.0.1:${relay.port}` })
})
afterAll(() => Promise.all([relay.close(), seller.close()]))

/** The caller's own part: it sees the terms, and signs. */
const signed: { accepts: unknown[] }[] = []
const wallet = {
  async createPaymentPayload(terms: { accepts: unknown[] }) {
    signed.push(terms)
    return { x402Version: 2, payload: { signature: '0x3' }, accepted: terms.accepts[0] }
  },
}
const pay = (maxUsd: number) => ({ wallet, maxUsd, allowTestCoins: true })
const call = async (request: object) => {
  requests = []
  signed.length = 0
  return waypost.call('x402.seller', request)
}

describe('a call through the relay', () => {
  test('without a wallet hands back the terms', async () => {
    const { response, terms, paid } = await call({})
    expect([response.status, paid, requests.length]).toEqual([402, undefined, 1])
    expect(terms).toEqual(TERMS)
  })

  test('is paid within the budget: the same request once more, with what the wallet signed', async () => {
    const reply = await call({ body: { q: 'tides' }, pay: pay(0.05) })
    expect([reply.response.status, reply.paid]).toEqual([200, PAID])
    expect(reply.receipt).toEqual({ success: true, transaction: '0x2' })
    expect(await reply.response.json()).toEqual({ sold: true })
    const same = { method: 'POST', body: '{"q":"tides"}', type: 'application/json' }
    expect(requests).toMatchObject([{ ...same, payment: undefined }, same])
    const payment = JSON.parse(Buffer.from(String(requests[1]?.payment), 'base64').toString())
    expect(payment.accepted).toEqual(TERMS.accepts[1])
    // Neither what is too dear nor a coin nobody vouches for was ever before the wallet.
    expect(signed.map(({ accepts }) => accepts)).toEqual([[TERMS.accepts[1]]])
  })

  test.each([
    ['above the budget', pay(0.009), /\$0\.01, but the budget is \$0\.009/],
    ['in coins of a test network', { wallet, maxUsd: 1 }, /no dollar coin/],
  ])('%s nothing is signed', async (_, terms, message) => {
    await expect(call({ pay: terms })).rejects.toThrow(message)
    expect([signed.length, requests.length]).toEqual([0, 1])
  })

  test('says what to install where the wallet does not know the version', async () => {
    const empty = new x402Client()
    const refused = call({ pay: { ...pay(0.05), wallet: empty } })
    await expect(refused).rejects.toMatchObject({ code: 'wallet-refused', status: 402 })
    await expect(refused).rejects.toThrow(/did not sign.*version 2.*npm install @x402\/core/)
    expect(requests.length).toBe(1)
  })

  test.each([
    [async () => ({}), 'Expected an x402 payment from the wallet, got something else.'],
    [async () => Promise.reject('locked'), 'The wallet did not sign: locked. '],
  ])('is not paid with what is no payment %#', async (createPaymentPayload, message) => {
    const refused = call({ pay: { ...pay(0.05), wallet: { createPaymentPayload } } })
    await expect(refused).rejects.toThrow(message)
    expect(requests.length).toBe(1)
  })

  test('is paid by the cheapest offer that the wallet signs', async () => {
    const choosy = {
      async createPaymentPayload(terms: { accepts: { amount: string }[] }) {
        if (terms.accepts[0]?.amount === '10000') throw new Error('no scheme for it')
        return wallet.createPaymentPayload(terms)
      },
    }
    const { response, paid } = await call({ pay: { ...pay(0.1), wallet: choosy } })
    expect([response.status, paid?.usd, signed.length]).toEqual([200, 0.09, 1])
  })

  test('of a listing that has another id is made there, with the same body and payment', async () => {
    requests = []
    const reply = await waypost.call('x402.former', { body: { q: 'tides' }, pay: pay(0.05) })
    expect([reply.response.status, reply.paid]).toEqual([200, PAID])
    const same = { method: 'POST', body: '{"q":"tides"}' }
    expect(requests).toMatchObject([{ ...same, payment: undefined }, same])
    const elsewhere = await waypost.call('x402.elsewhere', { pay: pay(0.05) })
    expect([elsewhere.response.status, elsewhere.paid, requests.length]).toEqual([
      410,
      undefined,
      2,
    ])
  })

  test('whose paid answer never comes is not repeated, and says what that may mean', async () => {
    const endpoint = '/broken'
    const { response } = await call({ endpoint, pay: pay(1) })
    // The relay's own answer: the seller broke off.
    expect([response.status, requests.length]).toEqual([502, 2])
    const direct = createWaypost({
      baseUrl: `http://127.0.0.1:${relay.port}`,
      fetch: async (url, init) => {
        if (new Headers(init?.headers).has('payment-signature')) throw new TypeError('hung up')
        return fetch(url, init)
      },
    })
    requests = []
    const unsure = direct.call('x402.seller', { pay: pay(1) })
    await expect(unsure).rejects.toMatchObject({ code: 'payment-unsure' })
    expect(requests.length).toBe(1)
  })
})
