import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openReceipts } from '../../functions/receipts/log/open-receipts.ts'
import { HEAD_EVERY_MS } from '../../functions/receipts/log/receipt-log.ts'
import { packClient } from '../support/packed-client.ts'
import { silentLog } from '../support/stores.ts'
import { preparePaymentPackages } from './prepare.ts'
import { writeWallet } from './wallet-module.ts'
import type { SellerListing, World } from './world.ts'

/**
 * A buyer with the packed client pays ten sellers, of both versions of x402 and of MPP, through the served
 * product. Three take the money and deliver nothing, one of each: the next build says which. Another machine's copy of the log proves each receipt.
 */
const missing = preparePaymentPackages()
if (missing !== null) console.warn(`test/payments: skipped, because ${missing}`)

const run = promisify(execFile)
const weatherOf = (city: string) => ({ city, temperature: city.length, wind: `${city} breeze` })
const EXAMPLE = weatherOf('Paris')
const HTTP = `params: [{ name: city, in: query, required: true, example: Paris }], response: { content_type: application/json, schema: ${JSON.stringify(
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
  seller5: { verdict: 'canned', toAnswer: () => EXAMPLE },
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

describe.skipIf(missing !== null)('ten sellers, three of whom take the money', () => {
  let world: World
  let folder: string
  let wallet: string
  const closing: (() => unknown)[] = []

  beforeAll(async () => {
    const lab = await import('./chain.ts')
    const { startFacilitator, startShop } = await import('./sellers.ts')
    const { startWorld } = await import('./world.ts')
    folder = mkdtempSync(join(tmpdir(), 'waypost-buyer-'))
    closing.push(() => rmSync(folder, { recursive: true }))
    await run('tar', ['xzf', await packClient()], { cwd: folder })
    const module = await writeWallet(toWallet(lab.keyOf(1)))
    closing.push(module.remove)
    wallet = module.file
    const chain = await lab.startChain()
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

  /** The packed command; each machine has a home of its own. */
  async function waypost(machine: string, ...args: string[]) {
    const home = join(folder, machine)
    mkdirSync(home, { recursive: true })
    const env = { ...process.env, HOME: home, XDG_STATE_HOME: home, WAYPOST_URL: world.url }
    const command = [join(folder, 'package/dist/waypost-cli.js'), ...args]
    try {
      const { stdout } = await run(process.execPath, command, { env, cwd: home })
      return { code: 0, stdout }
    } catch (error) {
      const { code, stdout, stderr } = Object(error)
      return { code, stdout: `${stdout}${stderr}` }
    }
  }

  const pay = (slug: string) =>
    waypost(
      'buyer',
      ...['call', `x402.${slug}`, '--endpoint', `/paid?city=${CITY}`],
      ...['--wallet', wallet, '--max-usd', '1'],
    )
  /** Of the buyer, by listing. */
  async function verdicts(machine: string, ...args: string[]) {
    const own = join(folder, 'buyer/waypost/receipts.jsonl')
    const { code, stdout } = await waypost(machine, 'receipts', '--file', own, ...args, '--json')
    const { receipts = [] } = code === 3 ? {} : JSON.parse(stdout)
    return { code, receipts }
  }

  // Thirteen commands, one after the other.
  test('the buyer pays them all, and each takes its money', { timeout: 180_000 }, async () => {
    for (const slug of [...KNOWN, ...SELLERS]) {
      const { code, stdout } = await pay(slug)
      expect(code, stdout).toBe(0)
    }
    const { service } = world
    await service().parts.ledger.receipts.written()
    const { store } = service().parts.ledger
    const later = { now: () => Date.now() + HEAD_EVERY_MS + 1 }
    await openReceipts({ store, clock: later, log: silentLog, baseUrl: world.url }).signHead()
  })

  test('the next build shows which three: on pages, in JSON and in kits', {
    timeout: 180_000,
  }, async () => {
    await world.whileDown(() => world.run('measure'))
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

  test('every receipt of the buyer is proved by the log, and says what came back', async () => {
    const { code, receipts } = await verdicts('buyer')
    expect([code, receipts.length]).toEqual([0, KNOWN.length + SELLERS.length])
    for (const { listing, standing, receipt } of receipts)
      expect([listing, standing, receipt.verdict]).toEqual([
        listing,
        'proved',
        TAKERS[listing.slice('x402.'.length)]?.verdict ?? 'as_declared',
      ])
  })

  test('and by the copy of another machine, while the directory is away', async () => {
    const copy = join(folder, 'copy.json')
    expect(await waypost('other', 'receipts', '--log', copy)).toMatchObject({ code: 0 })
    await world.whileDown(async () => {
      const { code, receipts } = await verdicts('other', '--log', copy, '--offline')
      expect([code, receipts.length]).toEqual([0, KNOWN.length + SELLERS.length])
      expect(receipts.every((each: { standing: string }) => each.standing === 'proved')).toBe(true)
      expect((await verdicts('buyer')).code).toBe(3)
    })
    const forged = readFileSync(copy, 'utf8').replace('"error_in_200"', '"as_declared"')
    writeFileSync(copy, forged)
    const told = await waypost('other', 'receipts', '--log', copy, '--offline')
    expect(told).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('its head does not match its receipts'),
    })
  })

  test('a directory that rewrites its log is found by whoever has a copy', async () => {
    const copy = join(folder, 'first.json')
    expect(await waypost('other', 'receipts', '--log', copy)).toMatchObject({ code: 0 })
    const { store } = world.service().parts.ledger
    const page = await store.db
      .selectFrom('receipt_page')
      .select(['position', 'receipts'])
      .executeTakeFirstOrThrow()
    const rewritten = page.receipts.replace('"as_declared"', '"empty"')
    await store.db
      .updateTable('receipt_page')
      .set({ receipts: rewritten })
      .where('position', '=', page.position)
      .execute()
    const { code, receipts } = await verdicts('buyer')
    expect(code).toBe(1)
    expect(receipts.map((each: { standing: string }) => each.standing)).toContain('false')
    expect(await waypost('third', 'receipts', '--log', join(folder, 'third.json'))).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('The log is not the one'),
    })
  })
})
