import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const PATHS = ['/healthz', '/api/v1/search?q=weather', '/search?q=weather']
/** Requests start this far apart, answered or not: a server that stands still is felt by all of them. */
const EVERY_MS = 40

export interface Felt {
  path: string
  p50: number
  p99: number
  max: number
  /** Requests without an answer of 200. */
  lost: number
}

/** Asks as another client (another loopback address) for a while and says how long answers took. */
export async function watchAsOther(port: number, seconds: number): Promise<Felt[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const took = new Map(PATHS.map((path) => [path, [] as number[]]))
  const asked: Promise<void>[] = []
  for (let n = 0; n < (seconds * 1000) / EVERY_MS; n += 1) {
    const path = PATHS[n % PATHS.length] ?? ''
    asked.push(ask(agent, port, path).then((ms) => void took.get(path)?.push(ms)))
    await sleep(EVERY_MS)
  }
  await Promise.all(asked)
  agent.destroy()
  return [...took].map(([path, all]) => {
    const answered = all.filter((ms) => ms < Infinity).sort((a, b) => a - b)
    return {
      path,
      p50: answered[Math.floor(answered.length / 2)] ?? Infinity,
      p99: answered[Math.ceil(answered.length * 0.99) - 1] ?? Infinity,
      max: answered.at(-1) ?? Infinity,
      lost: all.length - answered.length,
    }
  })
}

/** @returns milliseconds, or infinity without an answer of 200 */
function ask(agent: Agent, port: number, path: string): Promise<number> {
  const started = performance.now()
  return new Promise((resolve) => {
    const asked = get(
      { agent, host: '127.0.0.1', port, path, localAddress: '127.0.0.2', timeout: 60_000 },
      (res) => {
        res.resume()
        res.on('end', () =>
          resolve(res.statusCode === 200 ? performance.now() - started : Infinity),
        )
        res.on('error', () => resolve(Infinity))
      },
    )
    asked.on('timeout', () => asked.destroy())
    asked.on('error', () => resolve(Infinity))
  })
}
