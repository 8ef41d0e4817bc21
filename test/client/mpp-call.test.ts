import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Lock } from '../../packages/client/src/lock.ts'
import { createWaypost } from '../../packages/client/src/waypost.ts'
import { aListing, startRelay } from '../call/relay-world.ts'
import { paymentHeaders } from '../receipts/observed-relay.ts'
import { forAllTests } from '../support/for-tests.ts'
import { startSite } from '../support/site.ts'
import { tempFolder } from '../support/temp-folder.ts'

const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const DIGEST = 'd'.repeat(43)
const PAYEE = '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc'
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

interface Requested {
  amount?: string
  chainId?: number
  currency?: string
  recipient?: string
}

function aChallenge({
  amount = '10000',
  chainId = 84532,
  currency = USDC,
  recipient = PAYEE,
}: Requested) {
  const request = encode({ amount, currency, recipient, methodDetails: { chainId } })
  return `Payment id="c1", realm="seller.example", method="evm", intent="charge", request="${request}"`
}
/** By x402, dearer and cheaper than what MPP asks. */
const termsOf = (amount: string) => ({
  x402Version: 2,
  accepts: [{ scheme: 'exact', network: 'eip155:84532', amount, asset: USDC, payTo: PAYEE }],
})

let asks: Record<string, string>
let insatiable = false
let requests: {
  method: string | undefined
  authorization: unknown
  x402: unknown
  body: string
}[] = []
const seller = forAllTests(() =>
  startSite(async (req, res) => {
    const body = await readText(req)
    const { authorization, 'payment-signature': x402 } = req.headers
    requests.push({ method: req.method, authorization, x402, body })
    const isPaid = /^Payment /.test(authorization ?? '') || x402 !== undefined
    if (!isPaid || insatiable) return void res.writeHead(402, asks).end('{}')
    const receipt = { method: 'evm', reference: '0x2', status: 'success' }
    res.writeHead(200, { 'payment-receipt': encode(receipt) }).end('{"sold":true}')
  }),
)
const relay = forAllTests(() =>
  startRelay({ listings: [aListing(`${seller.url}/paid`, { digest: DIGEST })] }),
)

/** The caller's own part: it sees one challenge, and signs. */
const signed: string[] = []
const mpp = {
  async createCredential(response: Response) {
    signed.push(response.headers.get('www-authenticate') ?? '')
    return paymentHeaders('mpp').Authorization ?? ''
  },
}
const both = {
  ...mpp,
  async createPaymentPayload(terms: never) {
    const { accepts }: { accepts: object[] } = terms
    signed.push('x402')
    return { x402Version: 2, payload: { signature: '0x3' }, accepted: accepts[0] }
  },
}
beforeEach(() => {
  requests = []
  signed.length = 0
  insatiable = false
  asks = { 'www-authenticate': aChallenge({}) }
})

const call = (
  request: object = {},
  {
    wallet = mpp,
    maxUsd = 0.05,
    allowTestCoins = true,
  }: { wallet?: typeof mpp; maxUsd?: number; allowTestCoins?: boolean } = {},
  options: object = {},
) => {
  const waypost = createWaypost({ baseUrl: `http://127.0.0.1:${relay.port}`, ...options })
  return waypost.call('x402.seller', { ...request, pay: { wallet, maxUsd, allowTestCoins } })
}

test('a wallet whose packages are absent says which, and what to install', async () => {
  const folder = tempFolder('wallet')
  const file = join(folder, 'wallet.mjs')
  writeFileSync(file, "import 'mppx/client'\nexport default {}\n")
  const args = ['packages/client/cli/waypost-cli.ts', 'call', 'x402.seller', '--wallet', file]
  const run = promisify(execFile)(process.execPath, [...args, '--max-usd', '1'])
  const { code, stderr } = await run.catch((error) => error)
  expect([code, stderr]).toEqual([2, expect.stringMatching(/'mppx'.*npm install mppx for MPP/)])
})

describe('a call that is paid by MPP', () => {
  test('is sent once more with the credential in the place of any other', async () => {
    const headers = { authorization: 'Bearer the-sellers-own' }
    const { response, paid, receipt } = await call({ body: { q: 'tides' }, headers })
    const sent = { rail: 'mpp', usd: 0.01, payee: `eip155:84532:${PAYEE}` }
    expect([response.status, paid, receipt]).toMatchObject([200, sent, { reference: '0x2' }])
    expect(await response.json()).toEqual({ sold: true })
    const same = { method: 'POST', body: '{"q":"tides"}' }
    expect(requests).toMatchObject([
      { ...same, authorization: 'Bearer the-sellers-own' },
      { ...same, authorization: expect.stringMatching(/^Payment \S+$/) },
    ])
    expect(signed).toEqual([aChallenge({})])
  })

  test.each([
    ['90000', 'MPP'],
    ['1000', 'x402'],
  ])(
    'goes by what the seller asks least for: x402 asks %s, and %s is paid',
    async (amount, rail) => {
      asks = {
        ...asks,
        'payment-required': Buffer.from(JSON.stringify(termsOf(amount))).toString('base64'),
      }
      const { response } = await call({}, { wallet: both })
      expect(response.status).toBe(200)
      expect([requests.length, requests[1]?.x402 !== undefined]).toEqual([2, rail === 'x402'])
      expect(signed).toHaveLength(1)
    },
  )

  const refusals: [
    what: string,
    requested: Record<string, string>,
    budget: object,
    message: RegExp,
  ][] = [
    ['above the budget', {}, { maxUsd: 0.009 }, /\$0\.01, but the budget is \$0\.009/],
    ['on a test network', {}, { allowTestCoins: false }, /no dollar coin/],
    [
      'on a network without a dollar we know',
      { 'www-authenticate': aChallenge({ chainId: 7 }) },
      {},
      /no dollar coin/,
    ],
    [
      'in a coin of anybody',
      { 'www-authenticate': aChallenge({ currency: PAYEE }) },
      {},
      /no dollar coin/,
    ],
    [
      'whose request is no JSON',
      { 'www-authenticate': aChallenge({}).replace(/request="[^"]+"/, 'request="!"') },
      {},
      /no dollar coin/,
    ],
    [
      'without an id',
      { 'www-authenticate': aChallenge({}).replace('id="c1", ', '') },
      {},
      /no dollar coin/,
    ],
    ['of another scheme', { 'www-authenticate': 'Bearer realm="x"' }, {}, /no dollar coin/],
  ]
  test.each(refusals)('%s is not signed', async (_, requested, budget, message) => {
    asks = { ...asks, ...requested }
    await expect(call({}, budget)).rejects.toThrow(message)
    expect([signed.length, requests.length]).toEqual([0, 1])
  })

  test('to a payee that is not pinned is not signed', async () => {
    const entry = (payee: string) => ({
      digest: DIGEST,
      hosts: [],
      max_usd: 0.01,
      payees: { 'eip155:84532': [payee] },
      calls: {},
    })
    const lockOf = (payee: string): Lock => ({
      version: 1,
      directory: '',
      listings: { 'x402.seller': entry(payee) },
    })
    const { response } = await call({ lock: lockOf(PAYEE) })
    expect([response.status, await response.text()]).toEqual([200, '{"sold":true}'])
    requests = []
    signed.length = 0
    await expect(call({ lock: lockOf(`0x${'1'.repeat(40)}`) })).rejects.toMatchObject({
      code: 'changed',
    })
    expect(signed).toEqual([])
  })

  test('and asked for again is not paid again', async () => {
    insatiable = true
    const { response, paid } = await call()
    expect([response.status, paid?.usd, requests.length, signed.length]).toEqual([402, 0.01, 2, 1])
  })

  test('whose answer never comes is not repeated, and says what that may mean', async () => {
    const hangUp: typeof fetch = async (url, init) => {
      if (new Headers(init?.headers).has('authorization')) throw new TypeError('hung up')
      return fetch(url, init)
    }
    await expect(call({}, {}, { fetch: hangUp })).rejects.toMatchObject({ code: 'payment-unsure' })
    expect(requests).toHaveLength(1)
  })

  test('and that the wallet refuses is told so, and nothing is sent', async () => {
    const wallet = { createCredential: async () => Promise.reject(new Error('locked')) }
    await expect(call({}, { wallet })).rejects.toMatchObject({
      code: 'wallet-refused',
      message: 'The wallet did not sign: locked.',
    })
    expect(requests).toHaveLength(1)
    const other = call({}, { wallet: { createCredential: async () => Object(7) } })
    await expect(other).rejects.toThrow('Expected an MPP credential from the wallet')
  })
})
