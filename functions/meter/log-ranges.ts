import { toTopic } from '../../src/domain/settlement/schemes/evm-log.ts'
import type { EvmChain, TimedLog, Topics } from '../settlements/evm-chain.ts'
import { RpcError } from '../settlements/json-rpc.ts'

/** Most blocks requested at once; a range that a node refuses is requested in smaller ones. */
const MOST_BLOCKS = 10_000
/** Wallets in one list of topics: at first as many as a request may carry, then what most nodes take. */
const MOST_WALLETS = 10_000
const USUAL_WALLETS = 1_000
const FEWEST_WALLETS = 50
/** Successful ranges before wider ones are tried again: a refusal may have been a busy hour. */
const FORGET_AFTER = 100
/** How close to the refused width a range has to come: within a tenth. */
const CLOSE_ENOUGH = 0.1

/**
 * How much one node answers at once. Each node has its own limits on blocks, topics and logs and
 * its own error texts: so a refusal means "less", until nothing less can be requested.
 */
export type LogRanges = ReturnType<typeof createLogRanges>

export interface Range {
  from: number
  to: number
}

export function createLogRanges(chain: EvmChain) {
  const span = createSpan()
  const list = createList()
  /** @returns false when nothing less can be requested */
  const askForLess = (blocks: number): boolean => {
    if (list.tryShorter() || span.tryNarrower(blocks)) return true
    if (!list.mustBeShorter()) return false
    span.forget()
    return true
  }
  return {
    /** Runs `read` over the blocks, in ranges the node answers; refused ones are read in parts. */
    async each(from: number, to: number, read: (from: number, to: number) => Promise<void>) {
      for (let at = from; at <= to; ) {
        const end = Math.min(to, at + span.blocks - 1)
        const blocks = end - at + 1
        list.widest = 0
        try {
          await read(at, end)
        } catch (error) {
          const isRefusal = error instanceof RpcError && error.kind === 'refused'
          if (isRefusal && askForLess(blocks)) continue
          throw error
        }
        span.went(blocks)
        at = end + 1
      }
    },
    /**
     * Logs of the coin, or of another contract, for many wallets.
     *
     * @param toTopics puts the wallets at their position among the topics
     */
    async logsOf(
      wallets: readonly string[],
      { from, to }: Range,
      toTopics: (wallets: readonly string[]) => Topics,
      address?: string,
    ) {
      const logs: TimedLog[] = []
      for (let at = 0; at < wallets.length; ) {
        const some = wallets.slice(at, at + list.most).map(toTopic)
        list.widest = Math.max(list.widest, some.length)
        for (const log of await chain.logs(toTopics(some), from, to, address)) logs.push(log)
        at += some.length
      }
      return logs
    },
  }
}

/** The width of a range: doubled until a refusal, then between the accepted and the refused. */
function createSpan() {
  let good = 0
  let refused = Number.POSITIVE_INFINITY
  let inARow = 0
  const span = {
    blocks: MOST_BLOCKS,
    went(blocks: number) {
      inARow += 1
      if (inARow % FORGET_AFTER === 0) refused = Number.POSITIVE_INFINITY
      // The remainder at the end of a chain says nothing about how wide a range may be.
      if (blocks < span.blocks) return
      good = blocks
      if (refused === Number.POSITIVE_INFINITY) span.blocks = Math.min(MOST_BLOCKS, blocks * 2)
      else if (refused - blocks > blocks * CLOSE_ENOUGH)
        span.blocks = Math.floor((blocks + refused) / 2)
    },
    tryNarrower(blocks: number): boolean {
      if (blocks <= 1) return false
      refused = blocks
      inARow = 0
      span.blocks = good > 0 && good < blocks ? good : Math.ceil(blocks / 2)
      // A width that was accepted before is refused now: this stretch is busier.
      if (good >= blocks) good = 0
      return true
    },
    forget() {
      good = 0
      refused = Number.POSITIVE_INFINITY
      span.blocks = MOST_BLOCKS
    },
  }
  return span
}

/**
 * The length of a list. A node that refuses a long list over many blocks may mind either: a shorter
 * list is tried once; if that is refused too it was the blocks, and the list may be long again.
 */
function createList() {
  let tries: 'none' | 'shorter' | 'long' = 'none'
  const list = {
    most: MOST_WALLETS,
    /** Longest list asked for in the range at hand. */
    widest: 0,
    tryShorter(): boolean {
      if (tries === 'none' && list.widest > USUAL_WALLETS) {
        tries = 'shorter'
        list.most = USUAL_WALLETS
        return true
      }
      if (tries === 'shorter') {
        tries = 'long'
        list.most = MOST_WALLETS
      }
      return false
    },
    /** Not even one block is accepted: then it is the list. */
    mustBeShorter(): boolean {
      if (list.widest <= FEWEST_WALLETS) return false
      list.most = Math.min(USUAL_WALLETS, Math.ceil(list.widest / 2))
      return true
    },
  }
  return list
}
