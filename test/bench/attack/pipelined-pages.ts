/**
 * What other clients feel while one client pipelines searches whose pages are rendered on demand:
 * how long their answers take, and what the process grows by. Some attackers come back whenever they
 * are cut off.
 */
import { startPipelining } from '../../attack/pipelining-client.ts'
import { startFixture } from './fixture-process.ts'
import { watchAsOther } from './other-client.ts'

const ATTACKS = [
  { name: 'nobody attacks', connections: 0, isReading: true, rounds: 0 },
  { name: '5 connections that read', connections: 5, isReading: true, rounds: 1 },
  { name: '20 connections that never read', connections: 20, isReading: false, rounds: 1 },
  { name: '5 that come back 200 times', connections: 5, isReading: true, rounds: 200 },
  { name: '20 that come back 200 times', connections: 20, isReading: false, rounds: 200 },
]
const REQUESTS = 1153
const SECONDS = Number(process.env.ATTACK_SECONDS ?? 12)

for (const { name, connections, isReading, rounds } of ATTACKS) {
  const server = await startFixture()
  // Pages, modules and caches are there before anything is measured.
  await watchAsOther(server.port, 2)
  const before = await server.rss()
  const attack = startPipelining({
    port: server.port,
    path: '/search?q=a',
    connections,
    requests: REQUESTS,
    isReading,
    rounds,
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
