import { execFile } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readQuotes, receiptOf } from '../../packages/client/src/payment.ts'
import { aListing, type RelayWorld, startRelay } from '../call/relay-world.ts'
import { clientHere } from '../support/client-here.ts'
import { withEnv } from '../support/own-env.ts'
import { hasChain } from './chain.ts'
import { startTempo, TEMPO } from './tempo.ts'
import { writeWallet } from './wallet-module.ts'

const run = promisify(execFile)
const CLI = fileURLToPath(new URL('../../packages/client/cli/waypost-cli.ts', import.meta.url))
const PAYOUT = `0x${'5e'.repeat(20)}` as const
const WORDS = 'test test test test test test test test test test test junk'
/** Each buys once: the node takes a second such transaction of one wallet for the first. */
const [COMMAND, DIRECT] = ['5', '6']

/** `waypost call` with a wallet of mppx buys from a seller of mppx, over a chain in Tempo's mode. */
describe.skipIf(!hasChain)('a seller of Tempo', () => {
  let wallet: string
  const closing: (() => unknown)[] = []
  let tempo: Awaited<ReturnType<typeof startTempo>>
  let seller: { url: string; sold: () => number; close: () => unknown }
  let relay: RelayWorld

  beforeAll(async () => {
    tempo = await startTempo(PAYOUT)
    closing.push(tempo.stop)
    seller = await tempo.startSeller({ amount: '0.01', realm: '127.0.0.1' })
    closing.push(seller.close)
    relay = await startRelay({ listings: [aListing(seller.url)] })
    closing.push(relay.close)
    wallet = await writeWallet(
      `import { Mppx, tempo } from 'mppx/client'
import { createClient, http } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { tempoModerato } from 'viem/tempo/chains'
const account = mnemonicToAccount(process.env.WALLET_WORDS, { addressIndex: Number(process.env.WALLET_INDEX) })
const transport = http('${tempo.url}')
const getClient = () => createClient({ account, chain: tempoModerato, transport, pollingInterval: 50 })
export const allowTestCoins = process.env.TEST_COINS === 'yes'
export default Mppx.create({ methods: [tempo.charge({ account, getClient })], polyfill: false })
`,
    )
  }, 120_000)
  afterAll(async () => {
    for (const close of closing.reverse()) await close()
  })

  const envOf = (index: string, testCoins = 'yes') => ({
    WAYPOST_URL: `http://127.0.0.1:${relay.port}`,
    ...{ WALLET_WORDS: WORDS, WALLET_INDEX: index, TEST_COINS: testCoins },
  })
  const argsOf = (module: string, maxUsd: string) => [
    ...['call', 'x402.seller', '--wallet', module, '--max-usd', maxUsd],
  ]

  test('is not paid above the budget, nor in coins of a test network', async () => {
    // A module reads its environment once.
    const other = wallet.replace(/\.mjs$/, '-without.mjs')
    copyFileSync(wallet, other)
    const expensive = await clientHere(argsOf(wallet, '0.009'), { env: envOf(DIRECT) })
    const coins = await clientHere(argsOf(other, '1'), { env: envOf(DIRECT, 'no') })
    expect(expensive).toMatchObject({ code: 1, stdout: '' })
    expect(expensive.stderr).toContain('The seller requires $0.01, but the budget is $0.009')
    expect(coins).toMatchObject({ code: 1, stderr: expect.stringContaining('no dollar coin') })
    expect(seller.sold()).toBe(0)
  })

  test('is paid through the relay, and says by which transaction', async () => {
    // The key is in the environment alone.
    const { stdout, stderr } = await run(process.execPath, [CLI, ...argsOf(wallet, '0.01')], {
      env: { ...process.env, ...envOf(COMMAND) },
    })
    expect(stdout, stderr).toBe('sold')
    expect(stderr).toMatch(/status 200, \$0\.01 by mpp to \S+ was sent/)
    expect(stderr).toMatch(/receipt: .*"reference":"0x[0-9a-f]{64}"/)
    expect(stderr).not.toContain('junk')
    expect(seller.sold()).toBe(1)
  })

  test('is paid directly by the same wallet', async () => {
    const loaded = await withEnv(envOf(DIRECT), () => import(wallet))
    const requested = await fetch(seller.url)
    const rules = { wallet: loaded.default, allowTestCoins: true }
    const [quote] = readQuotes(requested, null, rules)
    expect(quote).toMatchObject({ rail: 'mpp', usd: 0.01, payee: `${TEMPO}:${PAYOUT}` })
    const payment = await quote?.sign()
    const answer = await fetch(seller.url, {
      headers: { [payment?.name ?? '']: payment?.value ?? '' },
    })
    expect([answer.status, await answer.text()]).toEqual([200, 'sold'])
    expect(receiptOf(answer)).toMatchObject({ status: 'success' })
  })
})
