import {
  type EvmLog,
  TRANSFER_TOPIC,
  toTopic,
} from '../../src/domain/settlement/schemes/evm-log.ts'
import type { Settlement, Transfer } from '../../src/domain/settlement/settlement.ts'
import type { EvmClaim } from '../../src/domain/settlement/settlement-claim.ts'
import { indexTransfers } from '../../src/domain/wash/chain-order.ts'
import type { WashKnowledge } from '../../src/domain/wash/wash.ts'

/** One true payment, and the headers and logs that go with it; tests bend them. */
export const NETWORK = 'eip155:84532'
export const TOKEN = '0x036cbd53842c5426634e7929541ec2318f3dcf7e'
export const PAYER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
export const PAYOUT = '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc'
export const NONCE = `0x${'ab'.repeat(32)}`
export const HASH = `0x${'cd'.repeat(32)}`
export const BLOCK_HASH = `0x${'ef'.repeat(32)}`
export const USED_TOPIC = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'

export const CLAIM: Extract<EvmClaim, { nonce: string }> = {
  family: 'evm',
  scheme: 'eip3009',
  network: NETWORK,
  transaction: HASH,
  payer: PAYER,
  amount: '1000',
  nonce: NONCE,
}

export const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64')

export const PAYMENT_V2 = {
  x402Version: 2,
  accepted: { scheme: 'exact', network: NETWORK, payTo: PAYOUT, amount: '1000' },
  payload: {
    signature: '0x00',
    authorization: { from: PAYER, to: PAYOUT, value: '1000', nonce: NONCE },
  },
}

export const SETTLED = { success: true, payer: PAYER, transaction: HASH, network: NETWORK }

export const hexQuantity = (value: number) => `0x${value.toString(16)}`

/** As a node writes it, numbers in hexadecimal. */
export function rawLog(changes: {
  index: number
  topics: string[]
  data?: string
  address?: string
}) {
  return {
    address: changes.address ?? TOKEN,
    topics: changes.topics,
    data: changes.data ?? '0x',
    logIndex: hexQuantity(changes.index),
    blockNumber: '0x64',
    blockHash: BLOCK_HASH,
    transactionHash: HASH,
  }
}

export const usedLog = (index: number, nonce = NONCE, payer = PAYER, address = TOKEN) =>
  rawLog({ index, topics: [USED_TOPIC, toTopic(payer), nonce], address })

export const transferLog = (
  index: number,
  { from = PAYER, to = PAYOUT, amount = 1000, address = TOKEN } = {},
) =>
  rawLog({
    index,
    topics: [TRANSFER_TOPIC, toTopic(from), toTopic(to)],
    data: `0x${amount.toString(16).padStart(64, '0')}`,
    address,
  })

export const rawReceipt = (logs: object[] = [usedLog(0), transferLog(1)], status = '0x1') => ({
  transactionHash: HASH,
  blockHash: BLOCK_HASH,
  blockNumber: '0x64',
  status,
  logs,
})

export const parseLogs = (logs: ReturnType<typeof rawLog>[]): EvmLog[] =>
  logs.map((log) => ({
    ...log,
    logIndex: Number(log.logIndex),
    blockNumber: Number(log.blockNumber),
  }))

export const DAY_MS = 86_400_000
/** Noon of a day. */
export const NOON = Date.UTC(2026, 10, 20, 12)

let count = 0

export function aSettlement(changes: Partial<Settlement> = {}): Settlement {
  count += 1
  return {
    network: NETWORK,
    transaction: `0x${count.toString(16).padStart(64, '0')}`,
    log_index: 1,
    listing_id: 'x402.seller',
    payer: wallet(count),
    payee: PAYOUT,
    usd: 0.01,
    amount: '10000',
    at: NOON - 3_600_000,
    block: null,
    scheme: 'eip3009',
    ...changes,
  }
}

export const aTransfer = (changes: Partial<Transfer> = {}): Transfer => ({
  network: NETWORK,
  transaction: '0x1',
  log_index: 0,
  from: PAYOUT,
  to: wallet(0),
  amount: '10000',
  at: NOON - DAY_MS,
  block: null,
  from_contract: null,
  ...changes,
})

/** What is known around payments to the seller of the samples, unless said otherwise: nothing. */
export const known = (
  transfers: readonly Transfer[] = [],
  changes: Partial<WashKnowledge> = {},
): WashKnowledge => ({
  wallets: [PAYOUT],
  transfers: indexTransfers(transfers),
  hasPaidOthers: () => false,
  ...changes,
})

export const wallet = (n: number) => `0x${(n + 0x1000).toString(16).padStart(40, '0')}`
