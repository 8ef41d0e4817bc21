import { createHash } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import * as v from 'valibot'
import { type JsonRpc, RpcError } from '../../functions/trust/evm-chain.ts'
import { TRANSFER_TOPIC, toTopic } from '../../src/domain/trust/evm-payments.ts'
import { hexQuantity, TOKEN, USED_TOPIC, wallet } from '../settlements/samples.ts'
import { closeServer, listen } from '../support/listen.ts'

/** An EVM chain in memory: blocks of transactions of logs, and a node that tells them with its faults. */
export interface RawLog {
  address: string
  topics: string[]
  data: string
}

/** Who sent a transaction, whom it called, and with what. */
export interface RawCall {
  from: string
  to: string
  input: string
}

/** Logs alone are a facilitator's call that says nothing. */
type Transaction = RawLog[] | { logs: RawLog[]; call: RawCall }

interface Mined {
  number: number
  hash: string
  at: number
  logs: Record<string, unknown>[]
  calls: Map<string, RawCall>
}

const SOME_CALL: RawCall = { from: `0x${'fa'.repeat(20)}`, to: TOKEN, input: '0x' }

/** What is wrong with the node; a test sets what it needs. */
export interface Faults {
  /** Widest range, most logs, longest list of topics it answers. */
  maxBlocks?: number
  maxLogs?: number
  maxTopics?: number
  /** Newest block it knows, when it is behind. */
  head?: number
  /** Writes the block's time beside each log, as some nodes do. */
  blockTimestamp?: boolean
  /** Lists the newest log first. */
  isBackwards?: boolean
  /** Looks at each call before it is answered; what it returns is answered instead, what it throws is thrown. */
  instead?: (method: string, params: unknown[], count: number) => unknown
}

const hashOf = (text: string) => `0x${createHash('sha256').update(text).digest('hex')}`
const wordOf = (amount: bigint | number) => `0x${amount.toString(16).padStart(64, '0')}`

export const transfer = (from: string, to: string, amount: number, address = TOKEN): RawLog => ({
  address,
  topics: [TRANSFER_TOPIC, toTopic(from), toTopic(to)],
  data: wordOf(amount),
})

let nonces = 0
/** One authorised payment, as the token writes it: the use, then the transfer. */
export function payment(from: string, to: string, amount: number, address = TOKEN): RawLog[] {
  nonces += 1
  const used = { address, topics: [USED_TOPIC, toTopic(from), wordOf(nonces)], data: '0x' }
  return [used, transfer(from, to, amount, address)]
}

/** A payment by Permit2, whose scheme only its call tells. */
export function permitted(from: string, to: string, amount: number) {
  const words = [TOKEN, amount, 7, 9, from, to, 0, 0].map((value) =>
    (typeof value === 'number' ? value.toString(16) : value.slice(2)).padStart(64, '0'),
  )
  const proxy = '0x402085c248eea27d92e8b30b2c58ed07f9e20001'
  const call = { from: wallet(900), to: proxy, input: `0x13cd3b53${words.join('')}` }
  return { logs: [transfer(from, to, amount)], call }
}

/** @param start time of the first block, milliseconds; @param blockMs from one to the next */
export function createChain({ start, blockMs = 2_000 }: { start: number; blockMs?: number }) {
  const blocks: Mined[] = []
  let branch = 'main'
  const mine = (...transactions: Transaction[]) => {
    const number = blocks.length
    const hash = hashOf(`${branch} ${number}`)
    const at = start + number * blockMs
    const calls = new Map<string, RawCall>()
    const logs = transactions.flatMap((own, index) => {
      calls.set(hashOf(`${hash} ${index}`), 'call' in own ? own.call : SOME_CALL)
      return ('logs' in own ? own.logs : own).map((log) => ({
        ...log,
        transactionHash: hashOf(`${hash} ${index}`),
        blockNumber: hexQuantity(number),
        blockHash: hash,
      }))
    })
    blocks.push({
      number,
      hash,
      at,
      calls,
      logs: logs.map((log, index) => ({ ...log, logIndex: hexQuantity(index) })),
    })
  }
  mine()
  return {
    blocks,
    mine,
    /** Empty blocks up to, and with, the last one that is not after a moment. */
    mineUntil(at: number) {
      while (start + blocks.length * blockMs <= at) mine()
    },
    /** Takes blocks back; what is mined now are others. */
    reorganise(depth: number) {
      blocks.splice(blocks.length - depth)
      branch += '+'
    },
    now: () => blocks.at(-1)?.at ?? start,
  }
}
export type Chain = ReturnType<typeof createChain>

/** A node of that chain; `asked` are its calls, by method. */
export function createNode(chain: Chain, faults: Faults = {}, chainId = 84_532) {
  const requested: string[] = []
  const codes = new Map<string, string>()
  const answer = (method: string, params: unknown[]): unknown => {
    const head = Math.min(chain.blocks.length - 1, faults.head ?? Number.POSITIVE_INFINITY)
    switch (method) {
      case 'eth_chainId':
        return hexQuantity(chainId)
      case 'eth_blockNumber':
        return hexQuantity(head)
      case 'eth_getBlockByNumber': {
        const block = chain.blocks[Number(params[0])]
        if (block === undefined || block.number > head) return null
        const { number, hash, at } = block
        return { number: hexQuantity(number), hash, timestamp: hexQuantity(Math.floor(at / 1000)) }
      }
      case 'eth_getLogs':
        return findLogs(chain, faults, v.parse(FilterSchema, params[0]), head)
      case 'eth_getTransactionByHash': {
        const wanted = String(params[0])
        const block = chain.blocks.find(({ calls }) => calls.has(wanted))
        const call = block?.calls.get(wanted)
        return call === undefined ? null : { hash: wanted, blockHash: block?.hash, ...call }
      }
      case 'eth_getTransactionReceipt': {
        const logs = chain.blocks.flatMap((block) => block.logs)
        const own = logs.filter(({ transactionHash }) => transactionHash === params[0])
        const blockNumber = own[0]?.blockNumber
        return blockNumber === undefined ? null : { status: '0x1', blockNumber, logs: own }
      }
      case 'eth_getCode':
        return codes.get(String(params[0])) ?? '0x'
      default:
        throw new Error(`the node does not know ${method}`)
    }
  }
  const rpc: JsonRpc = {
    async call(method, params, schema) {
      requested.push(method)
      const instead = faults.instead?.(method, params, requested.length)
      const result = v.safeParse(schema, instead === undefined ? answer(method, params) : instead)
      if (!result.success) throw new RpcError(`${method}: the node's result has a wrong shape`)
      return result.output
    },
  }
  return { rpc, requested, faults, codes, answer }
}

/** The same node on a socket. @param instead answers by itself, which it says, or leaves it to the node */
export async function serveNode(
  { answer }: Pick<ReturnType<typeof createNode>, 'answer'>,
  instead: (method: string, response: ServerResponse) => boolean = () => false,
) {
  const server = createServer(async (request, response) => {
    const { method, params } = JSON.parse(Buffer.concat(await request.toArray()).toString())
    if (!instead(method, response))
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: answer(method, params) }))
  })
  return { url: `http://127.0.0.1:${await listen(server)}`, close: () => closeServer(server) }
}

const FilterSchema = v.object({
  address: v.string(),
  topics: v.array(v.nullable(v.union([v.string(), v.array(v.string())]))),
  fromBlock: v.string(),
  toBlock: v.string(),
})

function findLogs(
  chain: Chain,
  { maxBlocks = 10_000, maxLogs = 10_000, maxTopics = 10_000, ...faults }: Faults,
  filter: v.InferOutput<typeof FilterSchema>,
  head: number,
): unknown {
  const refuse = () => new RpcError('eth_getLogs: the node refused (-32005)', 'refused')
  const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)]
  const topics = filter.topics.map((topic) =>
    topic === null ? null : new Set(typeof topic === 'string' ? [topic] : topic),
  )
  if (to - from + 1 > maxBlocks || topics.some((one) => (one?.size ?? 0) > maxTopics))
    throw refuse()
  const found = chain.blocks.slice(from, Math.min(to, head) + 1).flatMap(({ logs, at }) =>
    logs
      .filter((log) => log.address === filter.address)
      .filter((log) =>
        topics.every((one, n) => one === null || one.has((log.topics as string[])[n] ?? '')),
      )
      .map((log) =>
        faults.blockTimestamp
          ? { ...log, blockTimestamp: hexQuantity(Math.floor(at / 1000)) }
          : log,
      ),
  )
  if (found.length > maxLogs) throw refuse()
  return faults.isBackwards ? found.toReversed() : found
}
