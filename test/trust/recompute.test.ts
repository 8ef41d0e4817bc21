import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkRows } from '../../packages/client/cli/check-rows.ts'
import { scoreFiles } from '../../packages/client/cli/recompute.ts'
import { readContent } from '../../src/compile/content/read-content.ts'
import { createCatalogue } from '../../src/compile/derive/catalogue.ts'
import { writeTrustLedger } from '../../src/compile/release/write-trust-ledger.ts'
import { NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'
import {
  type LedgerPayee,
  type LedgerPayment,
  LedgerPaymentSchema,
} from '../../src/domain/trust/ledger-payment.ts'
import { type LedgerFiles, TrustPayeesSchema } from '../../src/domain/trust/published-ledger.ts'
import { createRandom } from '../bench/seeded-random.ts'
import { createChain, payment, transfer } from '../meter/chain-double.ts'
import { serveNode } from '../meter/serve-node.ts'
import { DAY_MS, NETWORK, NOON, TOKEN, wallet } from '../settlements/samples.ts'
import { createContentFolder, listingText } from '../support/content-folder.ts'
import { createKeptFiles } from '../support/kept-files.ts'

/** A score is what the published files say, and the files are what the chain says. */
const SEEDS = ['one', 'two', 'three']
const LISTINGS = 1_000
const RULES = { allowPrivate: false }
const BASE_URL = 'https://waypost.example'
const AS_OF = new Date(NOON).toISOString()

const idOf = (n: number) => (n < SEEDS.length ? `x402.${SEEDS[n]}` : `x402.s${n}`)
const hostOf = (n: number) => (n < SEEDS.length ? `${SEEDS[n]}.example` : `s${n}.example`)

const payees = (): LedgerPayee[] =>
  Array.from({ length: LISTINGS }, (_, n) => ({
    payee: `${NETWORK}:${wallet(n)}`,
    owner: hostOf(n),
    proof: 'published' as const,
    listings: [idOf(n)],
  }))

function aRow(n: number, buyer: number, usd_micro: number, daysAgo: number): LedgerPayment {
  rows += 1
  return {
    network: NETWORK,
    transaction: `0x${rows.toString(16).padStart(64, '0')}`,
    log: rows % 7,
    at: NOON - daysAgo * DAY_MS,
    asset: TOKEN,
    amount: String(usd_micro),
    usd_micro,
    payer: wallet(5_000 + buyer),
    payee: wallet(n),
    scheme: 'eip3009',
    listings: [idOf(n)],
    verdict: rows % 11 === 0 ? 'round_trip' : 'counted',
  }
}
let rows = 0

/** A market of a thousand sellers, three of them known, whose buyers buy here and there. */
function aMarket(): LedgerPayment[] {
  const random = createRandom(7)
  return Array.from({ length: 1_500 }, (_, buyer) => [
    ...SEEDS.flatMap((_, seed) =>
      random.below(3) > 0
        ? [aRow(seed, buyer, 500_000 + random.below(900_000), random.below(30))]
        : [],
    ),
    ...Array.from({ length: 8 }, () =>
      aRow(3 + random.below(LISTINGS - 3), buyer, 1_000 + random.below(300_000), random.below(60)),
    ),
  ]).flat()
}

test('the files alone give every digit of a thousand listings', () => {
  const folder = createContentFolder({
    'tables/independent_operators.yaml': SEEDS.map(
      (name) => `- { domain: ${name}.example, name: ${name}, why: Known to everybody. }\n`,
    ).join(''),
    ...Object.fromEntries(
      Array.from({ length: LISTINGS }, (_, n) => [
        `listings/${idOf(n).replace('.', '/')}.md`,
        listingText({ url: `https://${hostOf(n)}/buy`, payout: `["${NETWORK}:${wallet(n)}"]` }),
      ]),
    ),
  })
  const { content } = readContent(folder.dir, RULES)
  folder.remove()
  if (content === null) throw new Error('expected content without faults')
  const ledger = { ...NO_LEDGER_FACTS, asOf: NOON, payments: aMarket(), payees: payees() }
  const catalogue = createCatalogue(content, { baseUrl: BASE_URL, rules: RULES, ledger })
  const kept = createKeptFiles()
  writeTrustLedger(kept.files, ledger.payments, catalogue.trustPayees)
  const [plain, about] = ['payments.ndjson', 'payees.json'].map((name) =>
    kept.read(`api/v1/trust/${name}`).toString(),
  )
  const lines = (plain ?? '').trimEnd().split('\n')
  const files: LedgerFiles = {
    ...v.parse(TrustPayeesSchema, JSON.parse(about ?? '')),
    as_of: new Date(NOON).toISOString(),
    // In another order: none is meant.
    payments: lines.map((line) => v.parse(LedgerPaymentSchema, JSON.parse(line))).reverse(),
  }
  const scored = catalogue.listings.filter(
    ({ trust }) => trust.evidence === 'verified_non_wash_payments',
  )
  expect(scored.length).toBeGreaterThan(900)
  const scoreOf = scoreFiles(files)
  for (const { id, trust } of catalogue.listings) {
    const own = scoreOf(id)
    expect(own.evidence, id).toBe(trust.evidence)
    if (trust.evidence !== 'verified_non_wash_payments') continue
    expect(own, id).toMatchObject({
      score: trust.score,
      buyers: trust.measured.verified_buyers_30d,
      settlements: trust.measured.settlements_30d,
      volume_usd: trust.measured.volume_usd_30d,
    })
  }
})

describe('with a node', () => {
  const chain = createChain({ start: NOON - 2 * DAY_MS, blockMs: 3_600_000 })
  const [proxy, permitted] = ['0x402085c248eea27d92e8b30b2c58ed07f9e20001', wallet(5_004)]
  const words = [TOKEN, '0xfa0', '0x7', '0x9', permitted, wallet(9), '0x0', '0x0']
  const input = `0x13cd3b53${words.map((word) => word.slice(2).padStart(64, '0')).join('')}`
  chain.mine({
    logs: [transfer(permitted, wallet(9), 4_000)],
    call: { from: wallet(900), to: proxy, input },
  })
  for (const buyer of [1, 2, 3])
    chain.mine(payment(wallet(5_000 + buyer), wallet(9), 1_000 * buyer))
  // Somebody's own transfer, a coin of somebody's own, and what a buyer of the listing paid a known seller.
  chain.mine([transfer(wallet(5_005), wallet(9), 7_000)])
  chain.mine(payment(wallet(5_005), wallet(9), 8_000, wallet(77)))
  chain.mine(payment(wallet(5_001), wallet(0), 6_000))
  for (let n = 0; n < 3; n += 1) chain.mine()
  let url = ''
  let node: Awaited<ReturnType<typeof serveNode>>
  beforeAll(async () => {
    node = await serveNode(chain)
    url = node.url
  })
  afterAll(() => node.close())

  const all = chain.blocks.flatMap(({ at, logs }) =>
    logs.flatMap((log): LedgerPayment[] => {
      const [, from = '', to = ''] = log.topics as string[]
      if (log.data === '0x') return []
      return [
        {
          ...aRow(9, 0, Number(log.data), 0),
          asset: String(log.address),
          scheme: from.endsWith(permitted.slice(2)) ? 'permit2_exact' : 'eip3009',
          transaction: String(log.transactionHash),
          log: Number(log.logIndex),
          at,
          payer: `0x${from.slice(-40)}`,
          payee: `0x${to.slice(-40)}`,
          verdict: 'counted',
        },
      ]
    }),
  )
  const rowsOf = (amount: number) => all.filter((row) => row.amount === String(amount))
  const read = all.filter(({ amount }) => !['7000', '8000', '6000'].includes(amount))
  const vouching = rowsOf(6_000).map((row) => ({ ...row, listings: [idOf(0)] }))
  const faultsOf = (payments: readonly LedgerPayment[]) =>
    checkRows(url, { as_of: AS_OF, seeds: [hostOf(0)], payees: payees(), payments }, LISTING)
  const LISTING = { id: idOf(9), host: hostOf(9) }
  const altered = (changes: Partial<LedgerPayment>) =>
    read.map((row, n) => (n === 2 ? { ...row, ...changes } : row))

  test('rows that are the chain’s have no fault', async () => {
    expect(read).toHaveLength(4)
    expect(await faultsOf([...read, ...vouching])).toEqual([])
  })

  test.each<[string, LedgerPayment[]]>([
    ['an amount', altered({ amount: '2001' })],
    ['a payer', altered({ payer: wallet(1) })],
    ['a time', altered({ at: NOON - DAY_MS })],
    ['a log', altered({ log: 0 })],
    ['a transfer that nobody signed for', [...read, ...rowsOf(7_000)]],
    ['a payment in a coin of somebody’s own', [...read, ...rowsOf(8_000)]],
    ['a channel that no contract has', altered({ scheme: 'batch_settlement', payer: wallet(1) })],
    [
      'what a buyer never paid a known seller',
      [...read, ...vouching.map((row) => ({ ...row, transaction: `0x${'9'.repeat(64)}` }))],
    ],
    ['another coin', altered({ asset: wallet(3) })],
    ['dollars that the amount is not', altered({ usd_micro: 9_999_999 })],
    ['a row that is there twice', [...read, ...read.slice(2, 3)]],
    [
      'a row that is there twice, in other letters',
      [
        ...read,
        ...read.slice(2, 3).map((row) => ({
          ...row,
          transaction: row.transaction.toUpperCase().replace('0X', '0x'),
        })),
      ],
    ],
    ['an invented row', [...read, { ...aRow(9, 4, 5_000, 1), verdict: 'counted' }]],
    ['a missing row', read.filter((_, n) => n !== 2)],
    ['a missing row by Permit2', read.filter(({ amount }) => amount !== '4000')],
  ])('%s is found', async (_name, payments) => {
    expect((await faultsOf(payments)).length).toBeGreaterThan(0)
  })
})
