import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packClient } from '../support/packed-client.ts'
import { tempFolder } from '../support/temp-folder.ts'
import * as lab from './chain.ts'
import { testFromAQuestion } from './from-a-question.ts'
import { writeWallet } from './wallet-module.ts'
import type { SellerListing, World } from './world.ts'

const run = promisify(execFile)
const weatherOf = (city: string) => ({ city, temperature: city.length, wind: `${city} breeze` })
const EXAMPLE = weatherOf('Paris')
const HTTP = `task: weather, params: [{ name: city, in: query, required: true, example: Paris }], response: { content_type: application/json, schema: ${JSON.stringify(
  {
    type: 'object',
    properties: { city: { type: 'string' }, temperature: { type: 'number' } },
    required: ['city', 'temperature'],
  },
)}, example: ${JSON.stringify(EXAMPLE)} }`

const cityIn = ({ searchParams }: URL) => searchParams.get('city') ?? ''
const honest = (url: URL) => weatherOf(cityIn(url))
/** Who takes the money for what. */
const TAKERS: Record<string, { verdict: string; toAnswer: (url: URL) => unknown }> = {
  seller3: { verdict: 'error_in_200', toAnswer: () => ({ success: false, error: 'try later' }) },
  seller5: { verdict: 'empty', toAnswer: () => ({ city: null, temperature: null }) },
  seller7: { verdict: 'other_shape', toAnswer: (url) => ({ greeting: `hello ${cityIn(url)}` }) },
}
const SELLERS = Array.from({ length: 10 }, (_, n) => `seller${n}`)
/** Of those who take money there is one in each way. */
const wayOf = (slug: string) =>
  KNOWN.includes(slug) ? 'v2' : ((['v1', 'mpp', 'v2'] as const)[Number(slug.at(-1)) % 3] ?? 'v2')
/** Sellers that are surely nobody's front: they vouch for who pays them. */
const KNOWN = ['known0', 'known1', 'known2']
const hostOf = (slug: string) =>
  `127.0.${slug.startsWith('known') ? 2 : 3}.${Number(slug.at(-1)) + 1}`
const payoutOf = (slug: string): `0x${string}` =>
  `0x${Buffer.from(slug).toString('hex').padStart(40, 'a')}`
const CITY = 'Oslo'

/** For both rails. */
const toWallet = (key: string) => `import { x402Client } from '@x402/core/client'
import { registerExactEvmScheme } from '@x402/evm/exact/client'
import { evm, Mppx } from 'mppx/client'
import { privateKeyToAccount } from 'viem/accounts'
const account = privateKeyToAccount('${key}')
const x402 = registerExactEvmScheme(new x402Client(), { signer: account })
const method = evm({ account, authorization: { name: 'USDC', version: '2' } })
const mpp = Mppx.create({ methods: [method], polyfill: false })
export const allowTestCoins = true
export default {
  createPaymentPayload: (terms) => x402.createPaymentPayload(terms),
  createCredential: (response) => mpp.createCredential(response),
}
`

/**
 * A buyer with the packed client pays ten sellers, of both versions of x402 and of MPP, through the served
 * product. Three take the money and deliver nothing, one of each: the next build says which, and each has a receipt that is verified.
 */
describe.skipIf(!lab.hasChain)('ten sellers, three of whom take the money', () => {
  let world: World
  let chain: lab.Chain
  let folder: string
  let wallet: string
  const closing: (() => unknown)[] = []

  beforeAll(async () => {
    const { startFacilitator, startShop } = await import('./sellers.ts')
    const { startWorld } = await import('./world.ts')
    folder = tempFolder('buyer')
    await run('tar', ['xzf', await packClient()], { cwd: folder })
    wallet = await writeWallet(toWallet(lab.keyOf(1)))
    chain = await lab.startChain()
    closing.push(chain.stop)
    await chain.mint(lab.accountOf(1).address, 10_000_000n)
    const facilitator = await startFacilitator(chain)
    closing.push(facilitator.close)
    const listings: SellerListing[] = []
    for (const slug of [...KNOWN, ...SELLERS]) {
      const isKnown = KNOWN.includes(slug)
      const shop = await startShop(facilitator.url, {
        host: hostOf(slug),
        price: isKnown ? '$0.95' : '$0.05',
        payTo: payoutOf(slug),
        way: wayOf(slug),
        toAnswer: TAKERS[slug]?.toAnswer ?? honest,
      })
      closing.push(shop.close)
      const url = `${shop.url}/paid`
      const http = `[{ method: GET, url: "${url}", ${HTTP} }]`
      const rails = wayOf(slug) === 'mpp' ? '[x402, mpp]' : '[x402]'
      listings.push({ slug, url, payout: payoutOf(slug), rails, maxUsd: 1, http })
    }
    const known = KNOWN.map((slug) => `- { domain: ${hostOf(slug)}, name: ${slug}, why: A lab. }\n`)
    const files = { 'tables/independent_operators.yaml': known.join('') }
    for (const slug of KNOWN) await lab.payFromMany(chain, payoutOf(slug))
    world = await startWorld({ listings, files }, { [lab.NETWORK]: chain.url })
    closing.push(world.close)
  }, 400_000)
  afterAll(async () => {
    for (const close of closing.reverse()) await close()
  })

  /** The packed command. */
  async function waypost(...args: string[]) {
    const env = { ...process.env, WAYPOST_URL: world.url }
    const command = [join(folder, 'package/dist/waypost-cli.js'), ...args]
    try {
      const { stdout, stderr } = await run(process.execPath, command, { env, cwd: folder })
      return { code: 0, stated: `${stdout}${stderr}` }
    } catch (error) {
      const { code, stdout, stderr } = Object(error)
      return { code, stated: `${stdout}${stderr}` }
    }
  }

  /** What `verify` takes, by seller. */
  const bought = new Map<string, string[]>()

  // Thirteen commands, one after the other.
  test('the buyer pays them all, and each takes its money', { timeout: 180_000 }, async () => {
    for (const slug of [...KNOWN, ...SELLERS]) {
      const { code, stated } = await waypost(
        ...['call', `x402.${slug}`, '--endpoint', `/paid?city=${CITY}`],
        ...['--wallet', wallet, '--max-usd', '1'],
      )
      expect(code, stated).toBe(0)
      const [, id = '', secret = ''] = /waypost verify (\S+) --secret=(\S+)/.exec(stated) ?? []
      bought.set(slug, [id, `--secret=${secret}`])
    }
  })

  test('the next build shows which three: on pages, in JSON and in kits', {
    timeout: 180_000,
  }, async () => {
    // The server stops right after the last call: it still judges it and writes its receipt.
    await world.whileDown(() => world.measure())
    await world.rebuild()
    for (const slug of SELLERS) {
      const taker = TAKERS[slug]
      const path = `/api/v1/listings/x402.${slug}`
      const [page = '', listing = '', kit = ''] = await Promise.all(
        [`/listing/x402.${slug}`, path, `${path}/kit.json`].map(async (at) =>
          (await fetch(`${world.url}${at}`)).text(),
        ),
      )
      const figures = {
        ...{ delivered: taker === undefined ? 1 : 0, paid_calls: 1, buyers: 1, days: 30 },
        others: taker === undefined ? {} : { [taker.verdict]: 1 },
      }
      expect([slug, JSON.parse(listing).delivered]).toEqual([
        slug,
        expect.objectContaining(figures),
      ])
      expect([slug, JSON.parse(kit).delivered]).toEqual([slug, expect.objectContaining(figures)])
      expect(page).toContain(`Delivered ${figures.delivered} of 1 paid call of 1 buyer`)
      expect(page.includes('Of the others')).toBe(taker !== undefined)
    }
  })

  test('every receipt of the buyer is signed, and says what came back; its day is to come', async () => {
    for (const [slug, receipt] of bought) {
      const { code, stated } = await waypost('verify', ...receipt, '--json')
      expect([slug, code], stated).toEqual([slug, 0])
      expect(JSON.parse(stated)).toMatchObject({
        ...{ day: 'not_yet', ok: true, checks: { isRequested: true, isSigned: true } },
        receipt: {
          listing_id: `x402.${slug}`,
          verdict: TAKERS[slug]?.verdict ?? 'as_declared',
          transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        },
      })
    }
  })

  testFromAQuestion(() => ({ world, chain }))
})
