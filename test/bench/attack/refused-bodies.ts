/**
 * How long a new connection's `/healthz` takes while sixty clients send a megabyte each that is refused:
 * beside a bare Node server under the same burst in the same run, because a busy machine slows both.
 * Server, senders and asker have a process each. Turns are in CPU time, answers on the clock.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { BODIES } from './burst-sender.ts'
import { type FixtureProcess, startBareServer, startFixture } from './fixture-process.ts'

const SENDERS = Number(process.env.BURST ?? 60)
/** A new connection this often (milliseconds). */
const EVERY_MS = 20
const SENDER = join(import.meta.dirname, 'burst-sender.ts')

for (const name of Object.keys(BODIES)) {
  await report(`${name}, bare Node`, name, await startBareServer())
  await report(`${name}, Waypost`, name, await startFixture())
}

async function report(title: string, name: string, server: FixtureProcess): Promise<void> {
  for (let n = 0; n < 20; n += 1) await askHealth(server.port)
  await server.held()
  const sender = fork(SENDER, [String(server.port), name, String(SENDERS)])
  const gone = once(sender, 'exit')
  const asked: Promise<number>[] = []
  while (sender.exitCode === null) {
    asked.push(askHealth(server.port))
    await sleep(EVERY_MS)
  }
  await gone
  const took = (await Promise.all(asked)).sort((a, b) => a - b)
  const at = (part: number) => (took[Math.floor((took.length - 1) * part)] ?? 0).toFixed(0)
  console.log(
    `${title}: healthz p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, worst ${at(1)} ms of ${took.length}; longest turn ${(await server.held()).toFixed(0)} ms`,
  )
  await server.close()
}

/** @returns milliseconds from the connection to the end of the answer */
async function askHealth(port: number): Promise<number> {
  const started = performance.now()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  get({ host: '127.0.0.1', port, path: '/healthz', agent: false }, (res) => {
    res.resume().on('end', resolve)
  }).on('error', reject)
  await promise
  return performance.now() - started
}
