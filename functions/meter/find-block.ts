import { RpcError } from '../settlements/json-rpc.ts'
import type { Block, EvmChain } from './evm-chain.ts'

/** The first block that is not earlier than a moment, among those up to `head`; one after it where none is. */
export async function findBlockAt(chain: EvmChain, at: number, head: number): Promise<number> {
  let low = 0
  let high = head + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if ((await needBlock(chain, middle)).at < at) low = middle + 1
    else high = middle
  }
  return low
}

/** A block that must be there: a node that has none at this height is behind what it said of itself. */
export async function needBlock(chain: EvmChain, number: number): Promise<Block> {
  const block = await chain.block(number)
  if (block === null) throw new RpcError(`eth_getBlockByNumber: the node has no block ${number}`)
  return block
}
