import { expect, test } from 'vitest'
import { askSeller, type PlanRow, type Turn } from '../../packages/client/src/seller-turn.ts'
import { createSession } from '../../packages/client/src/spending.ts'
import { toBase64 } from '../../src/domain/relay/base64-json.ts'
import { WALLET } from './seller-doubles.ts'

const DIRECTORY = 'https://directory.example'
const SELLER = 'x402.seller'
const ID = 'r'.repeat(22)
const TERMS = {
  x402Version: 2,
  resource: { url: 'https://seller.example/' },
  accepts: [
    {
      ...{ scheme: 'exact', network: 'eip155:8453', amount: '1000', payTo: `0x${'ab'.repeat(20)}` },
      asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      ...{ maxTimeoutSeconds: 60, extra: { name: 'USDC', version: '2' } },
    },
  ],
}
const ROW: PlanRow = {
  seller: { id: SELLER, name: 'Seller' },
  request: { method: 'GET', url: 'https://seller.example/' },
  relay_url: `${DIRECTORY}/api/v1/call/${SELLER}?endpoint=%2F`,
  usd: 0.001,
  output: { text: 'text' },
  digest: 'digest',
}

/** A deed whose seller answers in the right shape; the directory has a receipt of it, or none. */
async function askWith(receipt: object | null, isWitnessed = true) {
  const asked: string[] = []
  const ask: typeof fetch = async (input, init) => {
    const url = String(input)
    asked.push(url)
    if (url.includes('/receipts/'))
      return receipt === null ? new Response('', { status: 404 }) : Response.json({ receipt })
    if (!new Headers(init?.headers).has('payment-signature'))
      return new Response('{}', {
        status: 402,
        headers: { 'payment-required': toBase64(JSON.stringify(TERMS)) },
      })
    const named = {
      'call-receipt': `https://else.example/${ID}`,
      'call-receipt-secret': 's'.repeat(43),
    }
    return Response.json({ text: 'hello' }, { headers: isWitnessed ? named : {} })
  }
  const turn: Turn = {
    ...{ deed: 'deed', task: 'task', session: createSession(), spent: [], baseUrl: DIRECTORY },
    contract: {
      type: 'object',
      properties: { text: { type: 'string' } },
      required: ['text'],
    },
    options: { pay: { wallet: WALLET, maxUsd: 1 }, fetch: ask },
  }
  return { asked, outcome: await askSeller(turn, ROW, 1) }
}

test.each(['canned', 'empty', 'error_in_200'])(
  'an answer that is %s by the receipt is none, although it has the shape',
  async (verdict) => {
    const { asked, outcome } = await askWith({ listing_id: SELLER, verdict, reason: 'Because.' })
    expect(outcome).toMatchObject({ end: 'wrong_answer', paid: 'paid', detail: 'Because.' })
    expect(outcome.witnessed).toMatchObject({ id: ID, verdict })
    expect(outcome).not.toHaveProperty('output')
    // Whatever address a header names, the directory alone is asked.
    expect(asked.at(-1)).toBe(`${DIRECTORY}/api/v1/receipts/${ID}`)
  },
)

test.each([
  ['as declared', { listing_id: SELLER, verdict: 'as_declared', reason: '' }],
  ['of another shape than declared', { listing_id: SELLER, verdict: 'other_shape', reason: '' }],
  ['of another seller', { listing_id: 'x402.other', verdict: 'canned', reason: '' }],
  ['not there', null],
])('one whose receipt is %s counts by the contract of the task', async (_, receipt) => {
  const { outcome } = await askWith(receipt)
  expect(outcome).toMatchObject({ end: 'delivered', output: { text: 'hello' } })
})

test('one that nobody witnessed is asked about nowhere', async () => {
  const { asked, outcome } = await askWith(null, false)
  expect([outcome.end, asked.filter((url) => url.includes('receipts'))]).toEqual(['delivered', []])
})
