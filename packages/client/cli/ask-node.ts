import * as v from 'valibot'
import {
  type EvmLog,
  LogSchema,
  QuantitySchema,
} from '../../../src/domain/settlement/schemes/evm-log.ts'
import { WaypostError } from '../src/waypost-error.ts'

/** The node that `--rpc` names: the reader's own, so its answers are trusted. */
export type Ask = ReturnType<typeof createAsk>

export function createAsk(url: string) {
  return async <Schema extends v.GenericSchema>(
    method: string,
    params: readonly unknown[],
    schema: Schema,
  ): Promise<v.InferOutput<Schema>> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(url, { method: 'POST', headers, body })
      .then((response) => response.json())
      .catch((cause: unknown) => {
        throw new WaypostError('unreachable', `--rpc: the node did not answer ${method}`, { cause })
      })
    const parsed = v.safeParse(v.object({ result: schema }), answer)
    if (parsed.success) return parsed.output.result
    throw new WaypostError('unreadable', `--rpc: the node did not answer ${method} as expected`)
  }
}

const ReceiptSchema = v.nullable(
  v.object({ status: v.literal('0x1'), blockNumber: v.string(), logs: v.array(LogSchema) }),
)

/** Null where the chain has no such transaction. */
export function readReceipt(ask: Ask, hash: string) {
  return ask('eth_getTransactionReceipt', [hash], ReceiptSchema)
}

/** Most nodes accept no wider range. */
export const BLOCKS_AT_ONCE = 9_000

export interface BlockRange {
  from: number
  to: number
}

/** The same blocks, in ranges that a node accepts. */
export function* inSteps({ from, to }: BlockRange): Generator<BlockRange> {
  for (let at = from; at <= to; at += BLOCKS_AT_ONCE)
    yield { from: at, to: Math.min(to, at + BLOCKS_AT_ONCE - 1) }
}

/** Logs of a contract in some blocks, in chain order. @param topics null for any, a list for one of */
export async function readLogs(
  ask: Ask,
  address: string,
  topics: readonly (null | string | readonly string[])[],
  range: BlockRange,
): Promise<EvmLog[]> {
  const found: EvmLog[] = []
  for (const { from, to } of inSteps(range)) {
    const filter = { address, topics, fromBlock: hex(from), toBlock: hex(to) }
    const logs = await ask('eth_getLogs', [filter], v.array(LogSchema))
    for (const log of logs) found.push(log)
  }
  return found
}

const BlockSchema = v.object({ number: QuantitySchema, timestamp: QuantitySchema })

/** Milliseconds. @param block its number, or that in hexadecimal digits */
export async function readTime(ask: Ask, block: number | string): Promise<number> {
  const number = typeof block === 'number' ? hex(block) : block
  const { timestamp } = await ask('eth_getBlockByNumber', [number, false], BlockSchema)
  return timestamp * 1000
}

/** The first block at or after a time; `end` without one before it. */
export async function findBlock(ask: Ask, at: number, end: number): Promise<number> {
  let [low, high] = [0, end]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if ((await readTime(ask, middle)) < at) low = middle + 1
    else high = middle
  }
  return low
}

/** Position of a log on its chain. */
export function placeOf({
  transactionHash,
  logIndex,
}: Pick<EvmLog, 'transactionHash' | 'logIndex'>): string {
  return `${transactionHash} log ${logIndex}`
}

function hex(number: number): string {
  return `0x${number.toString(16)}`
}
