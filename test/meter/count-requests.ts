import type { Store } from '../../functions/store/store.ts'
import { DAY_MS, hexQuantity, NOON, wallet } from '../settlements/samples.ts'
import { createChain, createNode, type Faults } from './chain-double.ts'
import { createMeter, prove } from './meter-world.ts'

/** Kinds of nodes, by what they answer at once. */
export const REQUEST_CASES = [
  { name: '10,000 blocks, and lists as long as they come', faults: {} },
  { name: '10,000 blocks, and 1,000 wallets a list', faults: { maxTopics: 1_000 } },
  { name: '500 blocks, and lists as long as they come', faults: { maxBlocks: 500 } },
] satisfies { name: string; faults: Faults }[]
export type RequestCase = (typeof REQUEST_CASES)[number]

const BLOCK_MS = 2_000

/** Requests for a whole first read of some days on which nobody paid. */
export async function countRequests(
  store: Store,
  { faults }: RequestCase,
  { payouts, days }: { payouts: number; days: number },
): Promise<number> {
  const proven = Array.from({ length: payouts }, (_, n) => wallet(100_000 + n))
  await prove(store, proven)
  const start = NOON - (days + 1) * DAY_MS
  const height = Math.floor((NOON - start) / BLOCK_MS)
  const node = createNode(createChain({ start, blockMs: BLOCK_MS }), faults)
  // A chain without payments need not be held: its blocks are known by their number.
  node.faults.instead = (method, params) => {
    if (method === 'eth_blockNumber') return hexQuantity(height)
    if (method === 'eth_getBlockByNumber') return toBlock(Number(params[0]), start)
    return undefined
  }
  const report = await createMeter(store, node.rpc, () => NOON).run(NOON - days * DAY_MS)
  if (report.stopped !== null) throw new Error(report.stopped)
  return report.requests
}

function toBlock(number: number, start: number) {
  return {
    number: hexQuantity(number),
    hash: `0x${number.toString(16).padStart(64, '0')}`,
    timestamp: hexQuantity((start + number * BLOCK_MS) / 1000),
  }
}
