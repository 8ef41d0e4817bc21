import * as v from 'valibot'
import { judgeEvmSettlement, toLookUp } from '../../src/domain/settlement/evm-settlement.ts'
import {
  amountOf,
  CallSchema,
  type EvmLog,
  LogSchema,
  QuantitySchema,
  ReceiptSchema,
  TRANSFER_TOPIC,
  toAddress,
  toTopic,
} from '../../src/domain/settlement/schemes/evm-log.ts'
import type { Transfer } from '../../src/domain/settlement/settlement.ts'
import type { EvmClaim } from '../../src/domain/settlement/settlement-claim.ts'
import type { ChainReader } from './chain-reader.ts'
import { type JsonRpc, RpcError } from './json-rpc.ts'

const BlockSchema = v.object({ hash: v.string(), timestamp: QuantitySchema })

/** How far back returns are looked for, in blocks: a node that refuses a range is asked for less. */
const RANGES = [1_500_000, 100_000, 9_000, 900]
/** Returns looked at; each costs a block's timestamp. */
const MAX_RETURNS = 50

export const evmReader: ChainReader<EvmClaim> = {
  async readSettlement(rpc, { claim, payouts, asset, confirmations }) {
    await assertChain(rpc, claim.network)
    const receipt = await rpc.call(
      'eth_getTransactionReceipt',
      [claim.transaction],
      v.nullable(ReceiptSchema),
    )
    if (receipt === null) return { outcome: 'wait', reason: 'not_mined' }
    const head = await rpc.call('eth_blockNumber', [], QuantitySchema)
    const block = await readBlock(rpc, receipt.blockNumber)
    if (block === null) return { outcome: 'wait', reason: 'reorganised' }
    const call = toLookUp(claim).needsCall ? await readCall(rpc, claim.transaction) : null
    const facts = { head, block, confirmations }
    return judgeEvmSettlement(claim, { receipt, call }, facts, { payouts, asset })
  },

  async readReturns(rpc, settled, { payouts, asset }) {
    if (asset === null || payouts.length === 0) return []
    const head = await rpc.call('eth_blockNumber', [], QuantitySchema)
    const topics = [TRANSFER_TOPIC, payouts.map(toTopic), toTopic(settled.payer)]
    const logs = await readLogs(rpc, head, { address: asset.address, topics })
    const transfers: Transfer[] = []
    for (const log of logs.slice(-MAX_RETURNS)) {
      const block = await readBlock(rpc, log.blockNumber)
      if (block !== null) transfers.push(toTransfer(settled.network, log, block.timestamp))
    }
    return transfers
  },
}

/** A URL under the wrong chain would look up right hashes in the wrong place. */
async function assertChain(rpc: JsonRpc, network: string): Promise<void> {
  const chain = await rpc.call('eth_chainId', [], QuantitySchema)
  if (`eip155:${chain}` !== network)
    throw new RpcError(`RPC_URLS: the node under ${network} says it is eip155:${chain}`)
}

async function readBlock(rpc: JsonRpc, number: number) {
  const height = `0x${number.toString(16)}`
  return rpc.call('eth_getBlockByNumber', [height, false], v.nullable(BlockSchema))
}

async function readCall(rpc: JsonRpc, hash: string) {
  const call = await rpc.call('eth_getTransactionByHash', [hash], v.nullable(CallSchema))
  if (call !== null && call.hash !== hash)
    throw new RpcError('eth_getTransactionByHash: not the transaction that was asked for')
  return call
}

async function readLogs(rpc: JsonRpc, head: number, filter: object): Promise<EvmLog[]> {
  for (const range of RANGES) {
    const fromBlock = `0x${Math.max(0, head - range).toString(16)}`
    try {
      return await rpc.call('eth_getLogs', [{ ...filter, fromBlock }], v.array(LogSchema))
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
    }
  }
  return []
}

function toTransfer(network: string, log: EvmLog, timestamp: number): Transfer {
  return {
    network,
    transaction: log.transactionHash,
    log_index: log.logIndex,
    from: toAddress(log.topics[1]),
    to: toAddress(log.topics[2]),
    amount: amountOf(log).toString(),
    at: timestamp * 1000,
    block: log.blockNumber,
    from_contract: null,
  }
}
