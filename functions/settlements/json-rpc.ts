import { Agent, request } from 'undici'
import * as v from 'valibot'

/** One chain's JSON-RPC, from `RPC_URLS`: configured by the operator, so not guarded like sellers. */
export interface JsonRpc {
  /** @throws RpcError when the node cannot be asked, refuses, or answers in another shape. */
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
  /** The node was asked and refused: a call that reverts, a range too wide. */
  readonly isRefusal: boolean

  constructor(message: string, { isRefusal = false }: { isRefusal?: boolean } = {}) {
    super(message)
    this.isRefusal = isRefusal
  }
}

const TIMEOUT_MS = 15_000
const MAX_ANSWER_BYTES = 16 * 1024 * 1024

const AnswerSchema = v.union([
  v.object({ error: v.object({ code: v.number() }) }),
  v.object({ result: v.unknown() }),
])

export const createJsonRpc: CreateJsonRpc = (url) => {
  const dispatcher = new Agent({
    connect: { timeout: TIMEOUT_MS },
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    maxResponseSize: MAX_ANSWER_BYTES,
  })
  return {
    async call(method, params, schema) {
      const answer = v.safeParse(AnswerSchema, await ask(url, dispatcher, method, params))
      if (!answer.success) throw new RpcError(`${method}: the node's answer is no JSON-RPC`)
      if ('error' in answer.output)
        throw new RpcError(`${method}: the node refused (${answer.output.error.code})`, {
          isRefusal: true,
        })
      const result = v.safeParse(schema, answer.output.result)
      if (!result.success) throw new RpcError(`${method}: the node's result has another shape`)
      return result.output
    },
  }
}

async function ask(
  url: string,
  dispatcher: Agent,
  method: string,
  params: unknown[],
): Promise<unknown> {
  try {
    const answer = await request(url, {
      dispatcher,
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    return await answer.body.json()
  } catch {
    throw new RpcError(`${method}: the node cannot be reached`)
  }
}
