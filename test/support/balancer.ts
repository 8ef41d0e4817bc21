import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The plainest load balancer there is: each request to the next instance, errors passed as 502. */
export interface Balancer {
  url: string
  targets: string[]
  close(): Promise<void>
}

export async function startBalancer(): Promise<Balancer> {
  let turn = 0
  const server = createServer((req, res) => {
    const target = balancer.targets[turn++ % Math.max(1, balancer.targets.length)]
    const upstream = request(
      new URL(req.url ?? '/', target),
      { method: req.method, headers: req.headers },
      (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(res)
      },
    )
    upstream.on('error', () => (res.headersSent ? res.destroy() : res.writeHead(502).end()))
    req.pipe(upstream)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // listening on TCP: never a string or null
  const balancer: Balancer = {
    url: `http://127.0.0.1:${port}`,
    targets: [],
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  return balancer
}
