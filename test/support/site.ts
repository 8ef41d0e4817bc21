import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { closeServer, listen } from './listen.ts'

/** A web server on loopback, a seller's or a registry's; the test decides what it answers. */
export interface Site extends AsyncDisposable {
  url: string
  port: number
  server: Server
  answer: RequestListener
  /** What it was asked for, in order: each path with its query. */
  requested: string[]
  /** Serves the text as the claim file. */
  publish(text: string, type?: string): void
  close(): Promise<void>
}

export async function startSite(answer: RequestListener = answerNothing): Promise<Site> {
  // What a seller sends back may be as long as what came.
  const server = createServer({ maxHeaderSize: 256 * 1024 }, (req, res) => {
    site.requested.push(req.url ?? '')
    site.answer(req, res)
  })
  server.maxHeadersCount = 0
  const port = await listen(server)
  const close = () => closeServer(server)
  const site: Site = {
    ...{ url: `http://127.0.0.1:${port}`, port, server, answer, requested: [] },
    publish: (text, type = 'text/plain; charset=utf-8') => {
      site.answer = (req, res) => {
        const isFile = req.url === '/.well-known/listing-claim.txt'
        res.writeHead(isFile ? 200 : 404, { 'Content-Type': type }).end(isFile ? text : 'no')
      }
    },
    close,
    // With `await using` at the end of a test, else by hand.
    [Symbol.asyncDispose]: close,
  }
  return site
}

const answerNothing: RequestListener = (_req, res) => void res.writeHead(404).end('nothing here')

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
