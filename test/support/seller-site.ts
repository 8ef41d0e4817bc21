import { createServer, type RequestListener, type Server } from 'node:http'
import { closeServer, listen } from './listen.ts'

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
  const port = await listen(server)
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
    close: () => closeServer(server),
  }
  return site
}
