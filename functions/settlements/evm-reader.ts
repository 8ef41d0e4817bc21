import * as v from 'valibot'
import { judgeEvmSettlement } from '../../src/domain/settlement/evm-settlement.ts'
import {
  ReceiptSchema,
  TRANSFER_TOPIC,
  toTopic,
} from '../../src/domain/settlement/schemes/evm-log.ts'
import { EVM_RULES } from '../../src/domain/settlement/schemes/scheme-rules.ts'
import type {
  Settlement,
  SettlementVerdict,
  Transfer,
} from '../../src/domain/settlement/settlement.ts'
import type { EvmClaim } from '../../src/domain/settlement/settlement-claim.ts'
import type { LookUp } from './chain-reader.ts'
import {
  type EvmChain,
  needBlock,
  openEvmChain,
  readTimes,
  type TimedLog,
  type Topics,
  timeOf,
  toTransfer,
} from './evm-chain.ts'
import { type JsonRpc, RpcError } from './json-rpc.ts'

/** How far back returns are looked for, in blocks: a node that refuses a range is asked for less. */
const RANGES = [1_500_000, 100_000, 9_000, 900]
/** Returns looked at; each costs a block's timestamp. */
const MAX_RETURNS = 50

/** @throws RpcError when the node cannot say */
export async function readEvmSettlement(
  rpc: JsonRpc,
  { claim, payouts, asset, confirmations }: LookUp<EvmClaim>,
): Promise<SettlementVerdict> {
  const { network, transaction } = claim
  const chain = await openEvmChain(rpc, { network, token: asset?.address ?? '' })
  const receipt = await rpc.call(
    'eth_getTransactionReceipt',
    [transaction],
    v.nullable(ReceiptSchema),
  )
  if (receipt === null) return { outcome: 'wait', reason: 'not_mined' }
  const head = await chain.head()
  const block = await chain.block(receipt.blockNumber)
  if (block === null) return { outcome: 'wait', reason: 'reorganised' }
  const call = EVM_RULES[claim.scheme].needsCall ? await chain.call(receipt) : null
  const facts = { head, block, confirmations }
  return judgeEvmSettlement(claim, { receipt, call }, facts, { payouts, asset })
}

/** What payout wallets sent to the payer, as far back as the node tells; for the wash rules. */
export async function readEvmReturns(
  rpc: JsonRpc,
  { network, payer }: Pick<Settlement, 'network' | 'payer'>,
  { payouts, asset }: Pick<LookUp, 'payouts' | 'asset'>,
): Promise<Transfer[]> {
  if (asset === null || payouts.length === 0) return []
  const chain = await openEvmChain(rpc, { network, token: asset.address })
  const head = await chain.head()
  const topics = [TRANSFER_TOPIC, payouts.map(toTopic), toTopic(payer)]
  const logs = (await readBack(chain, head, topics)).slice(-MAX_RETURNS)
  const times = await readTimes(chain, logs, await needBlock(chain, head))
  return logs.map((log) => toTransfer(log, network, timeOf(log, times)))
}

async function readBack(chain: EvmChain, head: number, topics: Topics): Promise<TimedLog[]> {
  for (const range of RANGES) {
    try {
      return await chain.logs(topics, Math.max(0, head - range), head)
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
    }
  }
  return []
}
