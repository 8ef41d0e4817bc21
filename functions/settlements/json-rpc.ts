import * as v from 'valibot'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import { createOperatorClient, type Fetcher } from '../net/http-client.ts'

/** One chain's JSON-RPC, from `RPC_URLS`: configured by the operator, so not guarded like sellers. */
export interface JsonRpc {
  /** @throws RpcError when the node is unreachable, refuses, or answers in another shape. */
  call<Schema extends v.GenericSchema>(
    method: string,
    params: unknown[],
    schema: Schema,
  ): Promise<v.InferOutput<Schema>>
}

export type CreateJsonRpc = (url: string) => JsonRpc

/** Never holds the URL: it often carries the operator's key. */
export class RpcError extends Error {
  override name = 'RpcError'
  /**
   * `busy`: the node asks for a pause. `refused`: the node refuses, for example too wide a range;
   * `reverted`: the contract does.
   */
  readonly kind: 'busy' | 'refused' | 'reverted' | null

  constructor(message: string, kind: RpcError['kind'] = null) {
    super(message)
    this.kind = kind
  }
}

/** How nodes express HTTP's 429 in JSON. */
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
      if (!result.success) throw new RpcError(`${method}: the node's result has another shape`)
      return result.output
    },
  }
}

/** Clients of the configured nodes, made on first use. */
export function createNodes(
  urls: Readonly<Record<string, string>>,
  createRpc: CreateJsonRpc = createJsonRpc,
) {
  const nodes = new Map<string, JsonRpc>()
  return (network: string): JsonRpc | null => {
    const url = urls[network]
    if (url === undefined) return null
    const node = nodes.get(network) ?? createRpc(url)
    nodes.set(network, node)
    return node
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
  if (status === 413) throw new RpcError(`${method}: the request is too long for it`, 'refused')
  // More than we accept: a smaller request may work.
  if (cut === 'size') throw new RpcError(`${method}: the node's answer is too large`, 'refused')
  if (cut !== null) throw new RpcError(`${method}: the node cannot be reached`)
  const json = parseJson(body)
  if (json === undefined) throw new RpcError(`${method}: the node's answer is not JSON`)
  return json
}
