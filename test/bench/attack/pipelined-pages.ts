/**
 * What other clients feel while one client pipelines searches whose pages are rendered on demand:
 * slowest of their answers, and what the process grows by. Both attackers come back whenever they
 * are cut off.
 */
import { startPipelining } from '../../attack/pipelining-client.ts'
import { startFixture } from './fixture-process.ts'
import { watchAsOther } from './other-client.ts'

const ATTACKS = [
  { name: 'nobody attacks', connections: 0, isReading: true },
  { name: '5 connections that read', connections: 5, isReading: true },
  { name: '20 connections that never read', connections: 20, isReading: false },
]
const REQUESTS = 1153
const ROUNDS = 200
const SECONDS = Number(process.env.ATTACK_SECONDS ?? 12)

for (const { name, connections, isReading } of ATTACKS) {
  const server = await startFixture()
  // Pages, modules and caches are there before anything is measured.
  await watchAsOther(server.port, 2)
  const before = await server.rss()
  const attack = startPipelining({
    port: server.port,
    path: '/search?q=weather',
    connections,
    requests: REQUESTS,
    isReading,
    rounds: ROUNDS,
  })
  const memory: number[] = []
  const sampling = setInterval(() => void server.rss().then((rss) => memory.push(rss)), 250)
  const felt = await watchAsOther(server.port, SECONDS)
  clearInterval(sampling)
  attack.stop()
  const peak = Math.max(before, ...memory)
  const answers = [...attack.answers].map(([status, count]) => `${count} × ${status}`)
  console.log(
    [
      name.padEnd(32),
      ...felt.map(
        ({ path, p50, p99, max, lost }) =>
          `${path.split('?')[0]} p50 ${p50.toFixed(1)} p99 ${p99.toFixed(0)} max ${max.toFixed(0)} ms, ${lost} unanswered`,
      ),
      `+${((peak - before) / 2 ** 20).toFixed(0)} MiB`,
      `${attack.closed()} connections cut`,
      answers.length > 0 ? `attacker got ${answers.join(', ')}` : 'attacker read nothing',
    ].join(' · '),
  )
  await server.close()
}
