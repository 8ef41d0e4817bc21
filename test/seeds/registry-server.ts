import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { closeServer, listen } from '../support/listen.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A registry on loopback that answers as it is told; remembers what it was asked for. */
export async function createRegistryServer(answer: Answer) {
  const requested: string[] = []
  const server = createServer((request, response) => {
    requested.push(request.url ?? '')
    served.answer(request, response)
  })
  const port = await listen(server)
  const served = {
    answer,
    url: `http://127.0.0.1:${port}/v0.1/servers?limit=100&version=latest`,
    origin: `http://127.0.0.1:${port}`,
    requested,
    close: () => closeServer(server),
  }
  return served
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
