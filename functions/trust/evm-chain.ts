import * as v from 'valibot'
import {
  amountOf,
  CallSchema,
  type EvmLog,
  HashSchema,
  LogSchema,
  QuantitySchema,
  toAddress,
} from '../../src/domain/trust/evm-payments.ts'
import type { Transfer } from '../../src/domain/trust/payments.ts'
import { parseJson } from '../../src/domain/wire/json.ts'
import { createOperatorClient, type Fetcher } from '../net/http-client.ts'

/** The needed fields of one block. Time in milliseconds. */
export interface Block {
  number: number
  hash: string
  at: number
}

/** Topics for `eth_getLogs`, one entry per topic of the event: null for any, a list for alternatives. */
export type Topics = readonly (string | null | readonly string[])[]

/** A chain as its node reports it. Contradictory answers throw `RpcError`. */
export type EvmChain = Awaited<ReturnType<typeof openEvmChain>>

/** A log and its block's time, if the node includes it; otherwise the time is read from the block. */
export interface TimedLog extends EvmLog {
  at: number | null
}

const BlockSchema = v.object({
  number: QuantitySchema,
  hash: HashSchema,
  timestamp: QuantitySchema,
})
const LogsSchema = v.array(
  v.object({
    ...LogSchema.entries,
    removed: v.optional(v.nullable(v.boolean())),
    blockTimestamp: v.optional(v.nullable(QuantitySchema)),
  }),
)

/** @throws RpcError if the node serves another chain, since its answers would be about that chain */
export async function openEvmChain(
  rpc: JsonRpc,
  { network, token }: { network: string; token: string },
) {
  const chain = await rpc.call('eth_chainId', [], QuantitySchema)
  if (`eip155:${chain}` !== network)
    throw new RpcError(`RPC_URLS: expected a node for ${network}, got one for eip155:${chain}`)
  return {
    head: () => rpc.call('eth_blockNumber', [], QuantitySchema),
    /** @returns null if the node has no such block */
    async block(number: number): Promise<Block | null> {
      const found = await rpc.call(
        'eth_getBlockByNumber',
        [toQuantity(number), false],
        v.nullable(BlockSchema),
      )
      if (found !== null && found.number !== number)
        throw new RpcError(`eth_getBlockByNumber: requested ${number}, got block ${found.number}`)
      return found === null ? null : { number, hash: found.hash, at: found.timestamp * 1000 }
    },
    /** Logs for one of the token's events, in chain order. */
    async logs(topics: Topics, from: number, to: number) {
      const blocks = { fromBlock: toQuantity(from), toBlock: toQuantity(to) }
      const filter = { address: token, topics, ...blocks }
      const logs = await rpc.call('eth_getLogs', [filter], LogsSchema)
      return checkLogs(
        logs.map(({ blockTimestamp, removed, ...log }) => {
          if (removed === true)
            throw new RpcError('eth_getLogs: expected logs on the chain, got a removed log')
          return { ...log, at: typeof blockTimestamp === 'number' ? blockTimestamp * 1000 : null }
        }),
        { address: token, topics, from, to },
      )
    },
    hasCode: async (address: string) =>
      isContract(await rpc.call('eth_getCode', [address, 'latest'], v.string())),
    async call({ transactionHash, blockHash }: Pick<EvmLog, 'transactionHash' | 'blockHash'>) {
      const call = await rpc.call('eth_getTransactionByHash', [transactionHash], CallSchema)
      if (call.hash !== transactionHash || call.blockHash !== blockHash)
        throw new RpcError(
          'eth_getTransactionByHash: the node sent a transaction that was not requested',
        )
      return call
    },
  }
}

/** A block that must exist: a node without it is behind the head that it reported. */
export async function needBlock(chain: EvmChain, number: number): Promise<Block> {
  const block = await chain.block(number)
  if (block === null) throw new RpcError(`eth_getBlockByNumber: the node has no block ${number}`)
  return block
}

/** The time of each log: from the log if the node includes it, else from the log's block. */
export async function readTimes(chain: EvmChain, logs: readonly TimedLog[], edge: Block) {
  const times = new Map([[edge.number, edge.at]])
  for (const log of logs) {
    if (times.has(log.blockNumber)) continue
    if (log.at === null) {
      const block = await needBlock(chain, log.blockNumber)
      if (block.hash !== log.blockHash)
        throw new RpcError('eth_getLogs: the node sent a log from a reorganised block')
      times.set(log.blockNumber, block.at)
    } else times.set(log.blockNumber, log.at)
  }
  if ([...times.values()].some((at) => at > edge.at))
    throw new RpcError(
      'eth_getLogs: the node sent a block with a later time than the block after it',
    )
  return ({ blockNumber }: TimedLog) => times.get(blockNumber) ?? 0
}

export function toTransfer(log: TimedLog, network: string, at: number): Transfer {
  return {
    network,
    transaction: log.transactionHash,
    log: log.logIndex,
    from: toAddress(log.topics[1]),
    to: toAddress(log.topics[2]),
    amount: amountOf(log).toString(),
    at,
    block: log.blockNumber,
    from_contract: null,
  }
}

/** A node that answers with anything that was not requested is not trusted at all. */
function checkLogs(
  logs: TimedLog[],
  requested: { address: string; topics: Topics; from: number; to: number },
): TimedLog[] {
  const wanted = requested.topics.map((topic) =>
    topic === null ? null : new Set(typeof topic === 'string' ? [topic] : topic),
  )
  const seen = new Map<string, TimedLog>()
  const hashes = new Map<number, string>()
  for (const log of logs) {
    const isRequested =
      log.address === requested.address &&
      log.blockNumber >= requested.from &&
      log.blockNumber <= requested.to &&
      (requested.topics.length === 1 || log.topics.length === requested.topics.length) &&
      wanted.every((topics, at) => topics === null || topics.has(log.topics[at] ?? ''))
    if (!isRequested) throw new RpcError('eth_getLogs: the node sent a log that was not requested')
    const known = hashes.get(log.blockNumber) ?? log.blockHash
    if (known !== log.blockHash)
      throw new RpcError('eth_getLogs: the node sent two blocks at the same height')
    hashes.set(log.blockNumber, log.blockHash)
    const place = `${log.blockNumber} ${log.logIndex}`
    const earlier = seen.get(place)
    if (earlier !== undefined && !isSame(earlier, log))
      throw new RpcError('eth_getLogs: the node sent two logs at the same position')
    seen.set(place, log)
  }
  // Whatever a node's order, the same payments are looked up and counted.
  return [...seen.values()].sort(
    (one, other) => one.blockNumber - other.blockNumber || one.logIndex - other.logIndex,
  )
}

function isSame(one: TimedLog, other: TimedLog): boolean {
  return (
    one.transactionHash === other.transactionHash &&
    one.data === other.data &&
    one.topics.join() === other.topics.join()
  )
}

/** A wallet that delegates to code (EIP-7702) is still a wallet. */
function isContract(code: string): boolean {
  return /^0x[0-9a-f]{2}/i.test(code) && !/^0xef0100/i.test(code)
}

function toQuantity(number: number): string {
  return `0x${number.toString(16)}`
}

/** One chain's JSON-RPC, from `RPC_URLS`: configured by the operator, so not guarded like sellers. */
export interface JsonRpc {
  /** @throws RpcError if the node is unreachable, refuses, or answers in another shape */
  call<Schema extends v.GenericSchema>(
    method: string,
    params: unknown[],
    schema: Schema,
  ): Promise<v.InferOutput<Schema>>
}

export type CreateJsonRpc = (url: string) => JsonRpc

/** The message never contains the URL, because the operator's key is often in it. */
export class RpcError extends Error {
  override name = 'RpcError'
  /**
   * `busy`: the node wants a pause. `refused`: the node refuses, for example because a range is too
   * wide. `reverted`: the contract refuses.
   */
  readonly kind: 'busy' | 'refused' | 'reverted' | null

  constructor(message: string, kind: RpcError['kind'] = null) {
    super(message)
    this.kind = kind
  }
}

/** Error codes by which nodes express HTTP's 429 in JSON. */
const BUSY_CODES = new Set([429, -32029])
const REVERTED = 3

const AnswerSchema = v.union([
  v.object({ error: v.object({ code: v.number() }) }),
  v.object({ result: v.unknown() }),
])

export const createJsonRpc: CreateJsonRpc = (url) => {
  const client = createOperatorClient('node')
  return {
    async call(method, params, schema) {
      const answer = v.safeParse(AnswerSchema, await ask(client, url, method, params))
      if (!answer.success) throw new RpcError(`${method}: the node's answer is not JSON-RPC`)
      if ('error' in answer.output) throw toRefusal(method, answer.output.error.code)
      const result = v.safeParse(schema, answer.output.result)
      if (!result.success) throw new RpcError(`${method}: the node's result has a wrong shape`)
      return result.output
    },
  }
}

function toRefusal(method: string, code: number): RpcError {
  const kind = code === REVERTED ? 'reverted' : BUSY_CODES.has(code) ? 'busy' : 'refused'
  return new RpcError(`${method}: the node refused (${code})`, kind)
}

async function ask(client: Fetcher, url: string, method: string, params: unknown[]) {
  const reply = await client.fetch({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  if (!reply.answered) throw new RpcError(`${method}: the node cannot be reached`)
  const { status, cut, body } = reply.answer
  if (status === 429 || status === 503)
    throw new RpcError(`${method}: the node is busy (HTTP ${status})`, 'busy')
  if (status === 413)
    throw new RpcError(`${method}: the request is too long for the node`, 'refused')
  // The answer exceeds our limit; a smaller request may work.
  if (cut === 'size') throw new RpcError(`${method}: the node's answer is too large`, 'refused')
  if (cut !== null) throw new RpcError(`${method}: the node cannot be reached`)
  const json = parseJson(body)
  if (json === undefined) throw new RpcError(`${method}: the node's answer is not JSON`)
  return json
}
