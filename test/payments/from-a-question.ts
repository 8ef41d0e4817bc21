import { expect, test } from 'vitest'
import type { World } from './world.ts'

/** What an agent may read on the way from a sentence to an answer that is paid for. */
const MOST_BYTES = 2_048
const QUESTION = 'weather in Oslo'

interface Shop {
  world: World
  lab: typeof import('./chain.ts')
  chain: import('./chain.ts').Chain
}

/** An agent with a wallet and a sentence, which knows nothing but the directory's address. */
export function testFromAQuestion(shop: () => Shop): void {
  async function openWallet() {
    const { x402Client } = await import('@x402/core/client')
    const { ExactEvmScheme } = await import('@x402/evm')
    const { lab, chain } = shop()
    const account = lab.accountOf(1)
    const wallet = new x402Client().register('eip155:*', new ExactEvmScheme(account))
    const before = await chain.balanceOf(account.address)
    const paid = async () => before - (await chain.balanceOf(account.address))
    return { wallet, paid }
  }

  test('over HTTP it takes three requests and less than 2 KB', async () => {
    const { wallet, paid } = await openWallet()
    let bytes = 0
    const asked: number[] = []
    const ask = async (url: string, init: RequestInit = {}) => {
      const response = await fetch(url, init)
      const terms = response.headers.get('payment-required') ?? ''
      const text = await response.text()
      bytes += text.length + terms.length
      asked.push(response.status)
      return { body: JSON.parse(text), terms }
    }
    const query = new URLSearchParams({ q: QUESTION, rail: 'x402', limit: '1' })
    const { body } = await ask(`${shop().world.url}/api/v1/operations?${query}`)
    const { relay_url, example } = body.results[0].operation
    const call = relay_url ?? example.url
    const unpaid = await ask(call)
    const terms = JSON.parse(Buffer.from(unpaid.terms, 'base64').toString())
    const signed = await wallet.createPaymentPayload(terms)
    const header = Buffer.from(JSON.stringify(signed)).toString('base64')
    const answer = await ask(call, { headers: { 'PAYMENT-SIGNATURE': header } })
    expect(asked).toEqual([200, 402, 200])
    expect(answer.body).toMatchObject({ city: 'Oslo' })
    expect(await paid()).toBe(950_000n)
    expect(bytes).toBeLessThan(MOST_BYTES)
  })
}
