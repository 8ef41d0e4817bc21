import { createServer } from 'node:http'
import { listen } from '../call/relay-world.ts'
import { type Chain, createNode } from './chain-double.ts'

/** The node of a chain in memory, over HTTP as a reader of the published rows asks one. */
export async function serveNode(chain: Chain, chainId?: number) {
  const node = createNode(chain, {}, chainId)
  const server = createServer(async (request, response) => {
    const { method, params } = JSON.parse(Buffer.concat(await request.toArray()).toString())
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: node.answer(method, params) }))
  })
  const url = `http://127.0.0.1:${await listen(server)}`
  return { url, rpc: node.rpc, close: () => void server.close() }
}
