import { expect, test } from 'vitest'
import { toLiveListing } from '../../src/build/listing-files.ts'
import { readPayees } from '../../src/derive/payouts.ts'
import { NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'
import { DAY_MS, NETWORK, NOON, wallet } from '../settlements/samples.ts'
import { listingText } from '../support/content-folder.ts'
import { describeStores } from '../support/stores.ts'
import { createChain, createNode, payment } from './chain-double.ts'
import { buildMarket, createMeter, KNOWN_OPERATORS, prove, readMarket } from './meter-world.ts'

const SHOP = wallet(1)
const seedPayout = (n: number) => wallet(2 + n)
const buyer = (n: number) => wallet(20 + n)

/** A shop whose seller proved its payout, three known operators, and how many of them publish theirs. */
const readShops = (publishing: number) =>
  readMarket({
    'listings/x402/0.md': listingText({ url: 'https://0.example/buy' }),
    ...Object.fromEntries(
      KNOWN_OPERATORS.map((name, n) => [
        `listings/x402/${name}.md`,
        listingText({
          url: `https://api.${name}.example/buy`,
          payout: n < publishing ? `["${NETWORK}:${seedPayout(n)}"]` : null,
        }),
      ]),
    ),
  })

describeStores('payouts that content publishes for known operators', ({ newStore }) => {
  test('are metered without a proof, so that three of them make the rule of vouching hold', async () => {
    const store = await newStore()
    const chain = createChain({ start: NOON - DAY_MS, blockMs: 60_000 })
    chain.mine(...KNOWN_OPERATORS.map((_, n) => payment(buyer(0), seedPayout(n), 500_000)))
    // Nine more: a known seller is measured by what ten buyers pay it.
    for (let n = 10; n < 19; n += 1)
      chain.mine(...KNOWN_OPERATORS.map((_, seed) => payment(buyer(n), seedPayout(seed), 260_000)))
    for (const n of [0, 1, 2]) chain.mine(payment(buyer(n), SHOP, 1_000))
    for (let n = 0; n < 20; n += 1) chain.mine()
    await prove(store, [SHOP])
    const content = readShops(3)
    const { published } = await buildMarket(store, content)
    expect(published.map(({ listing_id }) => listing_id)).toEqual([
      'x402.0',
      'x402.one',
      'x402.three',
      'x402.two',
    ])
    const meter = createMeter(store, createNode(chain).rpc, chain.now, { published })
    expect(await meter.run()).toMatchObject({ payments: 33, payouts: 4, stopped: null })

    const { measuredOperators, byId } = await buildMarket(store, content)
    expect(measuredOperators).toBe(3)
    expect(byId.get('x402.0')?.trust).toMatchObject({
      measured: { verified_buyers_30d: 1, unknown_buyers_30d: 2, watch: [] },
    })
    expect(byId.get('x402.one')?.trust).toMatchObject({ measured: { source: 'service_verified' } })

    // What was read of a payout that nobody publishes any more measures nobody.
    const fewer = await buildMarket(store, readShops(2))
    expect(fewer.measuredOperators).toBe(2)
    expect(fewer.byId.get('x402.0')?.trust).toMatchObject({ measured: { verified_buyers_30d: 3 } })
  })

  test('are its payees alone: who took over a forgotten part of its domain proves none beside them', async () => {
    const content = readShops(3)
    const listing = content.listings.find(({ id }) => id === 'x402.one')
    if (listing === undefined) throw new Error('there is a known seller')
    const own = `${NETWORK}:${seedPayout(0)}`
    const payeesOf = (host: string, proven: string[]) => {
      listing.facts.url = `https://${host}/buy`
      const claimed = new Map([[listing.id, host]])
      const facts = { ...NO_LEDGER_FACTS, claimed, provenPayouts: new Map([[listing.id, proven]]) }
      const rows = readPayees(content, facts, 'https://waypost.example')
      return rows.flatMap(({ owner, payee }) => (owner === 'one.example' ? [payee] : []))
    }
    const other = `${NETWORK}:${SHOP}`
    expect(payeesOf('forgotten.one.example', [own, other])).toEqual([own])
    expect(payeesOf('one.example', [own, other])).toEqual([other, own])
  })

  test('of anybody else too, where a page of the seller’s own names them, and only there', async () => {
    const content = readShops(0)
    const [first] = content.listings
    if (first === undefined) throw new Error('there are listings')
    first.facts.payout = [`${NETWORK}:${SHOP}`]
    const payoutsWith = async (page: string | undefined) => {
      const { payout_source: _, ...facts } = first.facts
      first.facts = page === undefined ? facts : { ...facts, payout_source: page }
      const { byId } = await buildMarket(await newStore(), content)
      return [...byId.values()].flatMap((listing) => toLiveListing(listing).payout)
    }
    expect(await payoutsWith('https://docs.0.example/pay')).toEqual([`${NETWORK}:${SHOP}`])
    expect(await payoutsWith('https://thief.example/pay')).toEqual([])
    expect(await payoutsWith(undefined)).toEqual([])
  })
})
