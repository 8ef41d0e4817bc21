import { toTopic } from '../../src/domain/settlement/evm-settlement.ts'
import { RpcError } from '../settlements/json-rpc.ts'
import type { EvmChain, TimedLog } from './evm-chain.ts'

/** Blocks asked for at once, at most; what a node refuses is halved. */
const MOST_BLOCKS = 10_000
/** Wallets in one list of topics: at first as many as a request may carry, then what most nodes take. */
const MOST_WALLETS = 10_000
const USUAL_WALLETS = 1_000
const FEWEST_WALLETS = 50
/** Ranges that went well before a wider one is tried again. */
const GOOD_RANGES = 8

/**
 * How much one node tells at once. Nodes limit blocks, topics and logs by numbers of their own and say
 * so in words of their own: so a refusal means "less", until there is no less to ask for.
 */
export interface LogRanges {
  /** Runs `read` over the blocks, in ranges the node answers; refused ones are read again, narrower. */
  each(from: number, to: number, read: (from: number, to: number) => Promise<void>): Promise<void>
  /** Logs of one event for many wallets. @param place of the wallets among the topics: 1 or 2 */
  logsOf(event: string, place: 1 | 2, wallets: readonly string[], range: Range): Promise<TimedLog[]>
}

interface Range {
  from: number
  to: number
}

export function createLogRanges(chain: EvmChain): LogRanges {
  let blocks = MOST_BLOCKS
  let wallets = MOST_WALLETS
  let widest = 0
  let good = 0
  /** @returns false when nothing less can be asked for */
  const shrink = (span: number): boolean => {
    good = 0
    if (widest > USUAL_WALLETS) wallets = USUAL_WALLETS
    else if (span > 1) blocks = Math.ceil(span / 2)
    else if (widest > FEWEST_WALLETS) wallets = Math.ceil(widest / 2)
    else return false
    return true
  }
  const grow = () => {
    good += 1
    if (good % GOOD_RANGES === 0) blocks = Math.min(MOST_BLOCKS, blocks * 2)
  }
  return {
    async each(from, to, read) {
      for (let at = from; at <= to; ) {
        const end = Math.min(to, at + blocks - 1)
        widest = 0
        try {
          await read(at, end)
        } catch (error) {
          if (isRefusal(error) && shrink(end - at + 1)) continue
          throw error
        }
        grow()
        at = end + 1
      }
    },
    async logsOf(event, place, of, { from, to }) {
      const logs: TimedLog[] = []
      for (let at = 0; at < of.length; ) {
        const list = of.slice(at, at + wallets).map(toTopic)
        widest = Math.max(widest, list.length)
        const topics = place === 1 ? [event, list] : [event, null, list]
        logs.push(...(await chain.logs(topics, from, to)))
        at += list.length
      }
      return logs
    },
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof RpcError && error.isRefusal
}
