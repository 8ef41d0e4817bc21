import { createServer } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkRows } from '../../packages/client/cli/check-rows.ts'
import type { LedgerPayee, LedgerPayment } from '../../src/domain/trust/ledger-payment.ts'
import { listen } from '../call/relay-world.ts'
import {
  ALICE,
  accountOf,
  BOB,
  GENESIS,
  NETWORK,
  SHOP,
  signature,
  transaction,
  USDC,
} from '../meter/solana-samples.ts'
import { DAY_MS, NOON } from '../settlements/samples.ts'

/** Rows of a Solana cluster, held against a node of it. */
const LISTING = { id: 'x402.0', host: 'shop.example' }
const hourOf = (n: number) => NOON - DAY_MS + n * 3_600_000

/** Two payments, and a transfer that its own sender pays for, between them. */
const told = [
  transaction('first', hourOf(1), { from: ALICE, to: SHOP, amount: 1_000 }),
  transaction('own', hourOf(2), { from: BOB, to: SHOP, amount: 9_000, sponsor: BOB }),
  transaction('other', hourOf(3), { from: BOB, to: ALICE, amount: 8_000 }),
  transaction('second', hourOf(4), { from: BOB, to: SHOP, amount: 2_000 }),
]

const rowOf = (name: string, at: number, payer: string, usd_micro: number): LedgerPayment => ({
  network: NETWORK,
  transaction: signature(name),
  log: 0,
  at,
  asset: USDC,
  amount: String(usd_micro),
  usd_micro,
  payer,
  payee: SHOP,
  scheme: 'solana_exact',
  listings: [LISTING.id],
  verdict: 'counted',
})
const [first, second] = [
  rowOf('first', hourOf(1), ALICE, 1_000),
  rowOf('second', hourOf(4), BOB, 2_000),
]
const payees: LedgerPayee[] = [
  { payee: `${NETWORK}:${SHOP}`, owner: LISTING.host, proof: 'signature', listings: [LISTING.id] },
]

function answer(method: string, [subject]: unknown[]): unknown {
  if (method === 'getGenesisHash') return GENESIS
  if (method === 'getTransaction')
    return told.find(({ transaction: { signatures } }) => signatures[0] === subject) ?? null
  if (method !== 'getSignaturesForAddress') return undefined
  expect(subject).toBe(accountOf(SHOP))
  return told.toReversed().map((one) => ({
    signature: one.transaction.signatures[0],
    err: one.meta.err,
    blockTime: one.blockTime,
  }))
}

const server = createServer(async (request, response) => {
  const { method, params } = JSON.parse(Buffer.concat(await request.toArray()).toString())
  const result = answer(method, params)
  const said = result === undefined ? { error: { code: -32601 } } : { result }
  response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...said }))
})
let url = ''
beforeAll(async () => {
  url = `http://127.0.0.1:${await listen(server)}`
})
afterAll(() => void server.close())

const faultsOf = (payments: readonly LedgerPayment[]) =>
  checkRows(url, { as_of: new Date(NOON).toISOString(), payees, seeds: [], payments }, LISTING)

test('the chain’s own rows have no fault', async () => {
  expect(await faultsOf([first, second])).toEqual([])
})

test.each<[string, LedgerPayment[]]>([
  ['another amount', [{ ...first, amount: '999', usd_micro: 999 }, second]],
  ['another payer', [{ ...first, payer: BOB }, second]],
  ['another payee', [{ ...first, payee: ALICE }, second]],
  ['another time', [{ ...first, at: hourOf(2) }, second]],
  ['another place', [{ ...first, log: 1 }, second]],
  ['another coin', [{ ...first, asset: SHOP }, second]],
  ['another scheme', [{ ...first, scheme: 'eip3009' }, second]],
  ['a row twice', [first, first, second]],
  ['an invented row', [first, second, rowOf('none', hourOf(2), ALICE, 500)]],
  [
    'a row out of a transfer that its sender paid for',
    [first, second, rowOf('own', hourOf(2), BOB, 9_000)],
  ],
  ['a missing row', [second]],
])('%s is found', async (_name, payments) => {
  expect(await faultsOf(payments)).toHaveLength(1)
})
