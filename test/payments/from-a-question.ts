import { expect, test } from 'vitest'
import * as lab from './chain.ts'
import type { World } from './world.ts'

/** What an agent may read on the way from a sentence to an answer that is paid for. */
const MOST_BYTES = { json: 2_048, mcp: 12_288 }
const QUESTION = 'weather in Oslo'

interface Shop {
  world: World
  chain: lab.Chain
}

/** An agent with a wallet and a sentence, which knows nothing but the directory's address. */
export function testFromAQuestion(shop: () => Shop): void {
  async function openWallet() {
    const { x402Client } = await import('@x402/core/client')
    const { ExactEvmScheme } = await import('@x402/evm')
    const { chain } = shop()
    const account = lab.accountOf(1)
    const wallet = new x402Client().register('eip155:*', new ExactEvmScheme(account))
    const before = await chain.balanceOf(account.address)
    const paid = async () => before - (await chain.balanceOf(account.address))
    return { wallet, paid }
  }

  test('over HTTP it takes three requests and less than 2 KB', async () => {
    const { wallet, paid } = await openWallet()
    let bytes = 0
    const requested: number[] = []
    const ask = async (url: string, init: RequestInit = {}) => {
      const response = await fetch(url, init)
      const terms = response.headers.get('payment-required') ?? ''
      const text = await response.text()
      bytes += text.length + terms.length
      requested.push(response.status)
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
    expect(requested).toEqual([200, 402, 200])
    expect(answer.body).toMatchObject({ city: 'Oslo' })
    expect(await paid()).toBe(950_000n)
    expect(bytes).toBeLessThan(MOST_BYTES.json)
  })

  test('over MCP it takes four calls and less than 12 KB, with the list of tools', async () => {
    const { wallet, paid } = await openWallet()
    const sizes: number[] = []
    const ask = async (method: string, params: object = {}) => {
      const response = await fetch(`${shop().world.url}/mcp`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: sizes.length + 1, method, params }),
      })
      const text = await response.text()
      sizes.push(text.length)
      const [, data = text] = /^data: (.*)$/m.exec(text) ?? []
      return JSON.parse(data).result
    }
    const { tools } = await ask('tools/list')
    expect(tools.map(({ name }: { name: string }) => name)).toContain('find_operations')
    const found = await ask('tools/call', {
      name: 'find_operations',
      arguments: { q: QUESTION, rail: 'x402', limit: 1 },
    })
    const [row] = found.structuredContent.results
    const { pathname, search } = new URL(row.operation.example.url)
    const request = {
      name: 'call_listing',
      arguments: { id: row.listing.id, endpoint: `${pathname}${search}` },
    }
    const unpaid = await ask('tools/call', request)
    const signed = await wallet.createPaymentPayload(unpaid.structuredContent)
    const answer = await ask('tools/call', { ...request, _meta: { 'x402/payment': signed } })
    expect(answer.structuredContent).toMatchObject({ status: 200, body: { city: 'Oslo' } })
    expect(sizes.length).toBe(4)
    expect(await paid()).toBe(950_000n)
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    expect(bytes, sizes.join()).toBeLessThan(MOST_BYTES.mcp)
  })
}
