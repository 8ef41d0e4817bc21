import * as v from 'valibot'
import { expect, test } from 'vitest'
import type { JsonRpc } from '../../functions/settlements/json-rpc.ts'
import { readSolanaSettlement } from '../../functions/settlements/verify-check.ts'

const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'
const signed = (filler: string) => btoa(`\x02${filler.repeat(128)}message`)

const lookUp = {
  claim: {
    family: 'solana' as const,
    scheme: 'solana_exact' as const,
    network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    transaction: '5'.repeat(88),
    authorised: signed('\0'),
  },
  payouts: ['seller'],
  asset: { address: MINT, decimals: 6 },
  confirmations: 1,
}

const balance = (owner: string, amount: string) => ({
  mint: MINT,
  owner,
  uiTokenAmount: { amount },
})

/** As a node answers, fields beyond ours included. */
const FOUND = {
  slot: 1,
  version: 0,
  blockTime: 1_700_000_000,
  meta: {
    err: null,
    fee: 5000,
    preTokenBalances: [balance('buyer', '5000'), balance('seller', '0')],
    postTokenBalances: [balance('buyer', '4000'), balance('seller', '1000')],
  },
  transaction: [signed('s'), 'base64'],
}

function aNode(transaction: unknown, genesis = GENESIS) {
  const asked: unknown[][] = []
  const rpc: JsonRpc = {
    async call(method, params, schema) {
      asked.push([method, ...params])
      return v.parse(schema, method === 'getGenesisHash' ? genesis : transaction)
    },
  }
  return { rpc, asked }
}

test('a finalised transaction of the caller’s own message counts', async () => {
  const node = aNode(FOUND)
  const verdict = await readSolanaSettlement(node.rpc, lookUp)
  expect(verdict).toMatchObject({ outcome: 'counted', settlement: { payer: 'buyer', usd: 0.001 } })
  expect(node.asked[1]).toEqual([
    'getTransaction',
    lookUp.claim.transaction,
    { encoding: 'base64', commitment: 'finalized', maxSupportedTransactionVersion: 0 },
  ])
})

test('one that is not finalised yet waits', async () => {
  const verdict = await readSolanaSettlement(aNode(null).rpc, lookUp)
  expect(verdict).toEqual({ outcome: 'wait', reason: 'not_mined' })
})

test('a node of another cluster is not believed', async () => {
  const other = aNode(FOUND, 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG')
  await expect(readSolanaSettlement(other.rpc, lookUp)).rejects.toThrow('another cluster')
})
