import { createServer, request } from 'node:http'
import { closeServer, listen } from './listen.ts'

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
  const port = await listen(server)
  const balancer: Balancer = {
    url: `http://127.0.0.1:${port}`,
    targets: [],
    close: () => closeServer(server),
  }
  return balancer
}
