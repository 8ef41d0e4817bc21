import * as v from 'valibot'
import { expect, test } from 'vitest'
import { readSolanaSettlement } from '../../functions/settlements/chain-reader.ts'
import type { JsonRpc } from '../../functions/settlements/json-rpc.ts'
import { decodeBase58 } from '../../src/domain/settlement/base58.ts'
import {
  ALICE,
  accountOf,
  BOB,
  GENESIS,
  key,
  NETWORK,
  SHOP,
  SPONSOR,
  transaction,
  USDC,
} from '../meter/solana-samples.ts'

const AT = 1_700_000_000_000
const PAID = transaction('call', AT, { from: ALICE, to: SHOP, amount: 1_000 })
const [FIRST = '', BUYERS = ''] = PAID.transaction.signatures

/** What a caller sends: nobody paid the fee yet, so the first signature is empty. */
const toAuthorised = (buyers: string) =>
  Buffer.concat([
    Buffer.from([2]),
    Buffer.alloc(64),
    decodeBase58(buyers, 64) ?? Buffer.alloc(64),
    Buffer.from('the message'),
  ]).toString('base64')

const lookUp = {
  claim: {
    family: 'solana' as const,
    scheme: 'solana_exact' as const,
    network: NETWORK,
    transaction: FIRST,
    authorised: toAuthorised(BUYERS),
  },
  payouts: [key('another seller'), SHOP],
  asset: { address: USDC, decimals: 6 },
  confirmations: 1,
}

function aNode(found: unknown, genesis = GENESIS) {
  const asked: unknown[][] = []
  const rpc: JsonRpc = {
    async call(method, params, schema) {
      asked.push([method, ...params])
      return v.parse(schema, method === 'getGenesisHash' ? genesis : found)
    },
  }
  return { rpc, asked }
}

const judge = async (found: unknown, changes: Partial<typeof lookUp> = {}) => {
  const verdict = await readSolanaSettlement(aNode(found).rpc, { ...lookUp, ...changes })
  return verdict.outcome === 'counted' ? verdict.settlement : `${verdict.outcome} ${verdict.reason}`
}

test('a final payment with the caller’s own signature counts', async () => {
  const node = aNode(PAID)
  expect(await readSolanaSettlement(node.rpc, lookUp)).toMatchObject({
    outcome: 'counted',
    settlement: { payer: ALICE, payee: SHOP, amount: '1000', usd: 0.001, scheme: 'solana_exact' },
  })
  expect(node.asked[1]).toEqual([
    'getTransaction',
    FIRST,
    { encoding: 'jsonParsed', commitment: 'finalized', maxSupportedTransactionVersion: 0 },
  ])
})

test('one that is not final yet waits', async () => {
  expect(await judge(null)).toBe('wait not_mined')
})

test.each([
  ['of another message', toAuthorised(FIRST)],
  ['of nobody', Buffer.from([2, 0, 0]).toString('base64')],
  ['that is empty', ''],
])('a caller’s transaction with the signature %s proves nothing', async (_name, authorised) => {
  const claim = { ...lookUp.claim, authorised }
  expect(await judge(PAID, { claim })).toBe('refused consent_not_found')
})

test('what failed, what paid nobody we know, and what came out of a pool do not count', async () => {
  const moved = { from: ALICE, to: SHOP, amount: 1_000 }
  const failed = transaction('call', AT, { ...moved, err: { InstructionError: [] } })
  expect(await judge(failed)).toBe('refused no_matching_transfer')
  expect(await judge(PAID, { payouts: [BOB] })).toBe('refused no_matching_transfer')
  const inAnotherCoin = transaction('call', AT, { ...moved, mint: key('another coin') })
  expect(await judge(inAnotherCoin)).toBe('refused no_matching_transfer')
  // A swap: its program moves a pool's coins, which nobody of the pool signed for.
  const swap = structuredClone(PAID)
  swap.transaction.message.instructions = [
    {
      programId: key('swap'),
      accounts: [accountOf(BOB), accountOf(SHOP)],
      data: '',
      stackHeight: null,
    },
  ]
  expect(await judge(swap)).toBe('refused no_matching_transfer')
})

test('a coin that counts nowhere is refused, and a node of another cluster not believed', async () => {
  const claim = lookUp.claim
  expect(
    await readSolanaSettlement(aNode(PAID).rpc, { ...lookUp, claim, asset: null }),
  ).toMatchObject({ reason: 'asset_not_allowed' })
  const other = aNode(PAID, 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG')
  await expect(readSolanaSettlement(other.rpc, lookUp)).rejects.toThrow('another cluster')
})

test('the fee’s payer is no buyer', async () => {
  const own = transaction('call', AT, { from: SPONSOR, to: SHOP, amount: 1_000 })
  expect(await judge(own)).toBe('refused no_matching_transfer')
})
