import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A seller's own web server on loopback; the test decides what it answers. */
export interface SellerSite {
  url: string
  port: number
  server: Server
  answer: RequestListener
  /** Serves the text as the claim file. */
  publish(text: string, type?: string): void
  close(): Promise<void>
}

export async function startSellerSite(): Promise<SellerSite> {
  const server = createServer((req, res) => site.answer(req, res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // listening on TCP: never a string or null
  const site: SellerSite = {
    port,
    server,
    url: `http://127.0.0.1:${port}`,
    answer: (_req, res) => res.writeHead(404).end('nothing here'),
    publish: (text, type = 'text/plain; charset=utf-8') => {
      site.answer = (req, res) => {
        const isFile = req.url === '/.well-known/listing-claim.txt'
        res.writeHead(isFile ? 200 : 404, { 'Content-Type': type }).end(isFile ? text : 'no')
      }
    },
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  return site
}
