import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Handshake } from '../../src/domain/probe/plan.ts'
import { IS_LONG, longTest } from '../support/long.ts'
import * as lab from './chain.ts'
import { testPaidOnPage } from './paid-on-page.ts'
import type { World } from './world.ts'

const PAYOUTS = {
  v2: '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc',
  v1: '0x976EA74026E726554dB657fA54763abd0C3a0aa9',
  mpp: '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955',
  forger: '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f',
  direct: '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720',
  known: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
} as const

const atLocalhost = <Listing extends { url: string }>(listing: Listing): Listing => ({
  ...listing,
  url: listing.url.replace('127.0.0.1', 'localhost'),
})

/** Whoever is at 127.0.0.1 is nobody's front here. */
const KNOWN = '- { domain: 127.0.0.1, name: Known, why: Everybody knows it. }\n'

longTest('the code of contracts that is kept is what their sources compile to', async () => {
  const files = ['test-usdc.sol', 'permit2.sol'].map((file) => [file, lab.compile(file)])
  const text = JSON.stringify(Object.fromEntries(files), null, 2)
  await expect(`${text}\n`).toMatchFileSnapshot('compiled.json')
})

/**
 * Real clients pay real sellers through the relay; the official facilitator code settles on a chain
 * of its own. Nothing in it that pays, sells or settles was written here.
 */
describe.skipIf(!lab.hasChain)('payments through the relay', { timeout: 120_000 }, () => {
  let world: World
  let chain: lab.Chain
  let oldTransaction = ''
  let running: Record<keyof typeof PAYOUTS, import('./sellers.ts').Running>
  const closing: (() => Promise<void>)[] = []

  beforeAll(async () => {
    const sellers = await import('./sellers.ts')
    const { startWorld } = await import('./world.ts')
    chain = await lab.startChain()
    closing.push(chain.stop)
    for (const buyer of [1, 2]) await chain.mint(lab.accountOf(buyer).address, 10_000_000n)
    const facilitator = await sellers.startFacilitator(chain)
    running = {
      v2: await sellers.startSellerV2(facilitator.url, PAYOUTS.v2),
      v1: await sellers.startSellerV1(facilitator.url, PAYOUTS.v1),
      mpp: await sellers.startSellerMpp(facilitator.url, PAYOUTS.mpp),
      direct: await sellers.startSellerV2(facilitator.url, PAYOUTS.direct),
      known: await sellers.startSellerV2(facilitator.url, PAYOUTS.known, '$4.50'),
      forger: await sellers.startForger(PAYOUTS.forger, () => oldTransaction),
    }
    closing.push(...[facilitator, ...Object.values(running)].map(({ close }) => close))
    const listing = (slug: keyof typeof running, rails = '[x402]') => ({
      slug,
      url: `${running[slug].url}/paid`,
      payout: PAYOUTS[slug],
      rails,
    })
    world = await startWorld(
      {
        listings: [
          listing('v2'),
          // Names a payout that another owner proves.
          { ...listing('v1'), copied: [PAYOUTS.direct] },
          listing('mpp', '[x402, mpp]'),
          // Names payouts of a known owner as its own, to be paid by everybody who pays those.
          { ...atLocalhost(listing('forger')), copied: [PAYOUTS.v2, PAYOUTS.known] },
          // Another owner than all the rest, which are at 127.0.0.1.
          atLocalhost(listing('direct')),
          { ...listing('known'), maxUsd: 4.5 },
        ],
        files: { 'tables/independent_operators.yaml': KNOWN },
      },
      { [lab.NETWORK]: chain.url },
    )
    closing.push(world.close)
  }, 400_000)

  afterAll(async () => {
    for (const close of closing.reverse()) await close()
  })

  /** Calls, and what the call moved: out of the buyer's wallet, into the payout address. */
  async function moved(
    buyer: number,
    payout: `0x${string}`,
    call: () => Promise<Response>,
  ): Promise<{ status: number; body: unknown; headers: Headers; paid: bigint; earned: bigint }> {
    const { address } = lab.accountOf(buyer)
    const before = [await chain.balanceOf(address), await chain.balanceOf(payout)] as const
    const response = await call()
    const body = await response.json()
    return {
      status: response.status,
      body,
      headers: response.headers,
      paid: before[0] - (await chain.balanceOf(address)),
      earned: (await chain.balanceOf(payout)) - before[1],
    }
  }

  async function payV2(buyer: number): Promise<typeof fetch> {
    const { ExactEvmScheme } = await import('@x402/evm')
    const { wrapFetchWithPaymentFromConfig } = await import('@x402/fetch')
    const client = new ExactEvmScheme(lab.accountOf(buyer))
    return wrapFetchWithPaymentFromConfig(fetch, {
      schemes: [{ network: 'eip155:*', client }],
      // Else it pays at most a dollar a call.
      spendControls: false,
    })
  }

  async function payV1(buyer: number) {
    const { wrapFetchWithPayment } = await import('x402-fetch')
    // Its types name the wallet of another viem.
    return wrapFetchWithPayment(fetch, chain.walletOf(buyer) as never)
  }

  const callUrl = (slug: string, query = '') => `${world.url}/api/v1/call/x402.${slug}${query}`

  async function trustOf(slug: string) {
    const response = await fetch(`${world.url}/api/v1/listings/x402.${slug}`)
    const { trust } = (await response.json()) as { trust: Record<string, unknown> }
    return trust
  }

  test.each([
    ['v2', 'x402', '2', 0.001],
    ['v1', 'x402', '1', 0.002],
    ['mpp', 'mpp', '1', 0.003],
    // The same seller offers x402 beside its MPP challenge.
    ['mpp', 'x402', '2', 0.003],
  ] as const)(
    'a probe reads the terms of seller %s on rail %s and pays nothing',
    async (slug, rail, version, usd) => {
      const { createTestClient } = await import('../probe/probe-world.ts')
      const { probeHandshake } = await import('../../functions/probes/handshake.ts')
      const operation = { method: 'GET', url: `${running[slug].url}/paid` } as const
      const request = { ...operation, headers: {} }
      const planned = { request, operation, is_paid: true, is_guess: false, expected: null }
      const handshake: Handshake = { kind: 'payment', rails: [rail], requests: [planned] }
      const client = createTestClient()
      const before = await chain.balanceOf(PAYOUTS[slug])
      const finding = await probeHandshake(handshake, client, Date.now)
      await client.close()
      expect(finding).toMatchObject({ outcome: 'spoke', protocol: rail, version })
      expect(finding.sight?.terms?.[0]).toMatchObject({ network: lab.NETWORK, usd })
      expect(finding.sight?.terms?.[0]?.payout?.toLowerCase()).toBe(
        `${lab.NETWORK}:${PAYOUTS[slug]}`.toLowerCase(),
      )
      expect(await chain.balanceOf(PAYOUTS[slug])).toBe(before)
    },
  )

  test('an x402 v2 client pays a v2 seller', async () => {
    const pay = await payV2(1)
    const result = await moved(1, PAYOUTS.v2, () => pay(callUrl('v2', '?city=Paris%20Nord&flag')))
    expect(result).toMatchObject({ status: 200, paid: 1000n, earned: 1000n })
    expect(result.body).toEqual({ sold: 'v2', url: '/paid?city=Paris%20Nord&flag' })
    expect(result.headers.get('payment-response')).not.toBeNull()
  })

  test('with a body, by POST', async () => {
    const pay = await payV2(1)
    const post = {
      method: 'POST',
      body: '{"q":1}',
      headers: { 'Content-Type': 'application/json' },
    }
    const result = await moved(1, PAYOUTS.v2, () => pay(callUrl('v2'), post))
    expect(result).toMatchObject({ status: 200, paid: 1000n, earned: 1000n })
  })

  test('through MCP: the 402 comes as the transport has it, and what the client signs goes on unchanged', async () => {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
    const { x402Client } = await import('@x402/core/client')
    const { ExactEvmScheme } = await import('@x402/evm')
    const client = new Client({ name: 'buyer', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${world.url}/mcp`)))
    const request = {
      name: 'call_listing',
      arguments: { id: 'x402.v2', endpoint: '/paid?city=Oslo' },
    }
    const unpaid = await client.callTool(request)
    const [block] = unpaid.content
    expect(unpaid.isError).toBe(true)
    expect(unpaid.structuredContent).toMatchObject({
      x402Version: 2,
      accepts: [{ scheme: 'exact' }],
    })
    expect(block?.type === 'text' && JSON.parse(block.text)).toEqual(unpaid.structuredContent)
    const wallet = new x402Client().register('eip155:*', new ExactEvmScheme(lab.accountOf(1)))
    const signed = await wallet.createPaymentPayload(unpaid.structuredContent as never)
    const before = await chain.balanceOf(PAYOUTS.v2)
    const paid = await client.callTool({ ...request, _meta: { 'x402/payment': signed } })
    expect(paid.structuredContent).toMatchObject({
      status: 200,
      body: { sold: 'v2', url: '/paid?city=Oslo' },
    })
    expect(paid._meta?.['x402/payment-response']).toMatchObject({ success: true })
    expect((await chain.balanceOf(PAYOUTS.v2)) - before).toBe(1000n)
    const again = await client.callTool({ ...request, _meta: { 'x402/payment': signed } })
    expect(again.isError).toBe(true)
    expect((await chain.balanceOf(PAYOUTS.v2)) - before).toBe(1000n)
    await client.close()
  })

  test('through our own client: the wallet signs within the budget, and nothing above it', async () => {
    const { createWaypost } = await import('../../packages/client/src/waypost.ts')
    const { x402Client } = await import('@x402/core/client')
    const { ExactEvmScheme } = await import('@x402/evm')
    const wallet = new x402Client().register('eip155:*', new ExactEvmScheme(lab.accountOf(1)))
    const waypost = createWaypost({ baseUrl: world.url })
    const pay = (maxUsd: number) => ({
      endpoint: '/paid?city=Bergen',
      pay: { wallet, maxUsd, allowTestCoins: true },
    })
    const result = await moved(1, PAYOUTS.v2, async () => {
      const { response, paid, receipt } = await waypost.call('x402.v2', pay(0.001))
      expect(paid).toMatchObject({ rail: 'x402', usd: 0.001 })
      expect(receipt).toMatchObject({ success: true })
      return response
    })
    expect(result).toMatchObject({ status: 200, paid: 1000n, earned: 1000n })
    expect(result.body).toEqual({ sold: 'v2', url: '/paid?city=Bergen' })
    const before = await chain.balanceOf(PAYOUTS.v2)
    await expect(waypost.call('x402.v2', pay(0.0009))).rejects.toMatchObject({
      code: 'over-budget',
    })
    expect(await chain.balanceOf(PAYOUTS.v2)).toBe(before)
  })

  test('through MCP on rail mpp: the official client pays, its credential goes on unchanged', async () => {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
    const { evm } = await import('mppx/client')
    const { McpClient } = await import('mppx/mcp/client')
    const account = lab.accountOf(1)
    const authorization = { name: 'USDC', version: '2' }
    const client = new Client(
      { name: 'buyer', version: '1.0.0' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    await client.connect(new StreamableHTTPClientTransport(new URL(`${world.url}/mcp`)))
    const payer = McpClient.wrap(client as never, { methods: [evm({ account, authorization })] })
    const before = await chain.balanceOf(PAYOUTS.mpp)
    const paid = await payer.callTool({ name: 'call_listing', arguments: { id: 'x402.mpp' } })
    expect(paid).toMatchObject({
      structuredContent: { status: 200, body: { sold: 'mpp' } },
      receipt: { status: 'success' },
    })
    expect((await chain.balanceOf(PAYOUTS.mpp)) - before).toBe(3000n)
    await client.close()
  })

  test('an x402 v1 client pays a v1 seller', async () => {
    const pay = await payV1(1)
    const result = await moved(1, PAYOUTS.v1, () => pay(callUrl('v1'), {}))
    expect(result).toMatchObject({ status: 200, paid: 2000n, earned: 2000n, body: { sold: 'v1' } })
    expect(result.headers.get('x-payment-response')).not.toBeNull()
  })

  test('an MPP client pays an MPP seller', async () => {
    const { evm, Mppx } = await import('mppx/client')
    const account = lab.accountOf(1)
    const authorization = { name: 'USDC', version: '2' }
    const client = Mppx.create({ methods: [evm({ account, authorization })], polyfill: false })
    const result = await moved(1, PAYOUTS.mpp, () => client.fetch(callUrl('mpp')))
    expect(result).toMatchObject({ status: 200, paid: 3000n, earned: 3000n, body: { sold: 'mpp' } })
    expect(result.headers.get('payment-receipt')).not.toBeNull()
  })

  longTest('the TypeScript of kit.json pays as it stands', async () => {
    const kit = await (await fetch(`${world.url}/api/v1/listings/x402.v2/kit.json`)).json()
    const { snippets } = kit as { snippets: Record<string, string> }
    const dir = mkdtempSync(join(fileURLToPath(new URL('.', import.meta.url)), 'snippet-'))
    try {
      writeFileSync(join(dir, 'snippet.mts'), snippets.typescript ?? '')
      const before = await chain.balanceOf(PAYOUTS.v2)
      const { stdout } = await promisify(execFile)(process.execPath, [join(dir, 'snippet.mts')], {
        env: { ...process.env, EVM_PRIVATE_KEY: lab.keyOf(2) },
      })
      expect(stdout).toContain('200 {"sold":"v2"')
      expect((await chain.balanceOf(PAYOUTS.v2)) - before).toBe(1000n)
    } finally {
      rmSync(dir, { recursive: true })
    }
  })

  test('a seller that forges its settlement header moves nothing', async () => {
    // Money really went to its address, in a transaction that is none of this call's.
    oldTransaction = await chain.transfer(1, PAYOUTS.forger, 1000n)
    const pay = await payV2(1)
    const result = await moved(1, PAYOUTS.forger, () => pay(callUrl('forger')))
    expect(result).toMatchObject({ status: 200, paid: 0n, earned: 0n })
    expect(result.headers.get('payment-response')).not.toBeNull()
  })

  test.each([
    ['of a known seller, a second after the block', 'v2', 1_000],
    ['of another seller, a second after the block', 'direct', 1_000],
    ['of another seller, some seconds after the block', 'direct', IS_LONG ? 10_000 : 2_000],
    ['of another seller, before the buyer’s own call and after it', 'direct', 0],
  ] as const)('a thief with the copied authorisation of a buyer %s', async (_name, victim, ms) => {
    let copied = ''
    // Through the thief's listing, whose seller says that this very call was paid so.
    const steal = async () => {
      const stolen = await fetch(callUrl('forger'), { headers: { 'PAYMENT-SIGNATURE': copied } })
      expect([stolen.status, stolen.headers.has('payment-response')]).toEqual([200, true])
    }
    const spy: typeof fetch = async (input, init) => {
      copied = new Request(input, init).headers.get('payment-signature') ?? copied
      if (copied !== '' && ms === 0) await steal()
      return fetch(input, init)
    }
    const { ExactEvmScheme } = await import('@x402/evm')
    const { wrapFetchWithPaymentFromConfig } = await import('@x402/fetch')
    const client = new ExactEvmScheme(lab.accountOf(2))
    const watched = wrapFetchWithPaymentFromConfig(spy, {
      schemes: [{ network: 'eip155:*', client }],
      spendControls: false,
    })
    const bought = await watched(`${running[victim].url}/paid`)
    const settled = JSON.parse(atob(bought.headers.get('payment-response') ?? ''))
    oldTransaction = settled.transaction
    expect(copied).not.toBe('')
    await new Promise((resolve) => setTimeout(resolve, ms))
    await steal()
  })

  test('what is paid straight to a proven payout is read from the chain', async () => {
    const { proveByWallet } = await import('./prove-payout.ts')
    const { db } = world.service().parts.ledger.store
    const payout = `${lab.NETWORK}:${PAYOUTS.direct}`
    const owner = { listingId: 'x402.direct', host: 'localhost' }
    await proveByWallet(db, { ...owner, payout, baseUrl: world.url })
    for (const buyer of [1, 2]) {
      const pay = await payV2(buyer)
      const result = await moved(buyer, PAYOUTS.direct, () => pay(`${running.direct.url}/paid`))
      expect(result).toMatchObject({ status: 200, paid: 1000n, earned: 1000n })
    }
    // Money that nobody authorised as a payment.
    await chain.transfer(1, PAYOUTS.direct, 5000n)
    expect(await trustOf('direct')).toMatchObject({ evidence: 'no_payment_data' })
    const measured = await world.whileDown(() => world.measure())
    // What a page of the seller's own publishes is read without a proof: six payments to v2 (five without the kit's), one to v1
    // and two to mpp, beside those to the one that is proved, which another owner publishes too.
    expect(measured).toContain(`${lab.NETWORK}: ${IS_LONG ? 14 : 13} payments to `)
  })

  test('its buyers also pay somebody who is known to be independent', async () => {
    for (const buyer of [1, 2]) {
      const pay = await payV2(buyer)
      const result = await moved(buyer, PAYOUTS.known, () => pay(callUrl('known')))
      expect(result).toMatchObject({ status: 200, paid: 4_500_000n, earned: 4_500_000n })
    }
  })

  test('what was settled becomes trust at the next build; what was forged does not', async () => {
    expect(await trustOf('v2')).toMatchObject({ evidence: 'no_payment_data' })
    await world.whileDown(() => world.measure())
    await world.rebuild()
    expect(await trustOf('v2')).toMatchObject({
      evidence: 'verified_non_wash_payments',
      verified_buyers_30d: 2,
      settlements_30d: IS_LONG ? 6 : 5,
      volume_usd_30d: IS_LONG ? 0.006 : 0.005,
    })
    for (const [slug, settlements_30d] of [
      ['v1', 1],
      ['mpp', 2],
    ] as const)
      expect(await trustOf(slug)).toMatchObject({
        evidence: 'verified_non_wash_payments',
        verified_buyers_30d: 1,
        settlements_30d,
      })
    expect(await trustOf('forger')).toMatchObject({
      score: null,
      evidence: 'no_independent_paid_usage_30d',
      verified_buyers_30d: 0,
    })
  })

  test('and so does what was paid straight, without the transfer that nobody authorised', async () => {
    expect(await trustOf('direct')).toMatchObject({
      evidence: 'verified_non_wash_payments',
      verified_buyers_30d: 2,
      settlements_30d: 5,
      volume_usd_30d: 0.005,
      wash_flags: [],
    })
  })

  longTest('money sent back makes it a round trip', async () => {
    // Most of what this buyer paid that owner, at all of its listings.
    await chain.mint(PAYOUTS.v1, 5_000_000n)
    await chain.transferAs(PAYOUTS.v1, lab.accountOf(1).address, 4_600_000n)
    const pay = await payV1(1)
    expect((await pay(callUrl('v1'), {})).status).toBe(200)
    await world.whileDown(() => world.measure())
    await world.rebuild()
    expect(await trustOf('v1')).toMatchObject({
      score: null,
      evidence: 'no_independent_paid_usage_30d',
      wash_flags: [{ flag: 'round_trip', settlements: 2 }],
    })
  })

  // On the fixture's page a wallet pays in every run (`test/browser/try-offers.test.ts`).
  if (IS_LONG) testPaidOnPage(() => ({ world, chain }))

  test('no signature, nonce or key of a payer is in the log', () => {
    const log = world.log.join('')
    expect(log).toContain('relayed')
    expect(log).not.toMatch(/0x[0-9a-f]{64}/i)
    expect(log).not.toMatch(/eyJ/)
  })
})
