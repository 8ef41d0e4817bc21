import { drain, load, percentile } from './http-load.ts'
import { type Contender, startNginx, startScript } from './relay/contenders.ts'

/**
 * What the relay costs: added latency and requests a second against calling the seller directly,
 * beside nginx and a plain `http-proxy` in the same run; and its memory while 100 streams pass.
 *
 * Each contender has core 0 to itself; seller and load share core 1. `of one core` is what the CPU
 * time a request would give if the core did nothing else: on a machine where the load is the slower
 * half, it is the number that compares the contenders.
 *
 * Known limit: half of the relay's CPU time is the system opening and closing one connection a call
 * (`http-proxy` and nginx here pay the same). Reusing connections would save it, but a late second
 * answer on a reused connection would reach the next caller, perhaps as terms of payment with
 * another payee; so each call has a connection of its own.
 */
const ROUNDS = Number(process.env.ROUNDS ?? 8)
const SLICE_SECONDS = 1
const WARM_ANSWERS = 20_000
const CONNECTIONS = Number(process.env.CONNECTIONS ?? 32)
const STREAMS = Number(process.env.STREAMS ?? 100)
const STREAM_MIB = Number(process.env.STREAM_MIB ?? 100)

/** Targets: added p50 (ms), shares of nginx's and http-proxy's requests a second, memory growth (MiB). */
const TARGET = { addedP50: 0.5, shareOfNginx: 0.35, ofHttpProxy: 1.2, growth: 64 }

const seller = await startScript('direct', 'seller-process.ts', '', 1)
const origin = `http://127.0.0.1:${seller.port}`
const relay = await startScript('relay', 'relay-process.ts', origin, 0)
// As its documentation writes a reverse proxy.
const nginx = await startNginx('nginx proxy_pass', {
  toRules: (port) =>
    `server { listen 127.0.0.1:${port}; keepalive_requests 1000000000;
       location / { proxy_pass ${origin}; proxy_buffering off; } }`,
})
if (nginx === null) console.log('nginx is not installed: the comparison with it is skipped')
const httpProxy = await startScript('http-proxy', 'http-proxy-process.ts', origin, 0)
const contenders = [seller, relay, ...(nginx === null ? [] : [nginx]), httpProxy]

const best = new Map(contenders.map(({ name }) => [name, createBest()]))
for (const contender of contenders) await warmUp(contender)
for (let round = 0; round < ROUNDS; round += 1)
  for (const contender of contenders) await measure(contender, best.get(contender.name))
for (const [name, numbers] of best) print(name, numbers)
// A process that has answered nothing yet: what a load made it keep is not part of its idle memory.
const fresh = await startScript('relay', 'relay-process.ts', origin, 0)
const growth = await measureMemory(fresh)
fresh.stop()
const ofHttpProxy = numbersOf('relay').ofOneCore / numbersOf('http-proxy').ofOneCore
report('requests/s of one core, of http-proxy', ofHttpProxy, '×', ofHttpProxy >= TARGET.ofHttpProxy)
const added = addedAt(0.5)
report('added p50', added, 'ms', added <= TARGET.addedP50)
console.log(`     added p99: ${ms(addedAt(0.99))}`)
if (nginx !== null) {
  const share = numbersOf('relay').ofOneCore / numbersOf(nginx.name).ofOneCore
  report('requests/s of one core, of nginx', share, '×', share >= TARGET.shareOfNginx)
}
report(`memory growth, ${STREAMS} × ${STREAM_MIB} MiB`, growth, 'MiB', growth <= TARGET.growth)
for (const contender of contenders) contender.stop()

interface Best {
  /** Of one connection, over all rounds, sorted: milliseconds. */
  latencies: number[]
  /** Answers a second with many connections, as seen by the load. */
  rate: number
  ofOneCore: number
  failures: number
}

function createBest(): Best {
  return { latencies: [], rate: 0, ofOneCore: 0, failures: 0 }
}

function addedAt(share: number): number {
  const at = (name: string) => percentile(numbersOf(name).latencies, share)
  return at('relay') - at('direct')
}

function numbersOf(name: string): Best {
  return best.get(name) ?? createBest()
}

/** By answers, not by time: on a busy machine a compiler that has not run yet would be measured. */
async function warmUp({ port, path }: Contender): Promise<void> {
  for (let answers = 0, turn = 0; answers < WARM_ANSWERS && turn < 20; turn += 1)
    answers += (await load(port, [path], { connections: CONNECTIONS, seconds: 2 })).answers
}

/** Short slices in turn. Of requests a second the best slice counts, of latencies every answer. */
async function measure(contender: Contender, numbers = createBest()): Promise<void> {
  const { port, path } = contender
  const single = await load(port, [path], { connections: 1, seconds: SLICE_SECONDS })
  const before = contender.cpu()
  const many = await load(port, [path], { connections: CONNECTIONS, seconds: SLICE_SECONDS })
  const cpu = contender.cpu() - before
  numbers.latencies = numbers.latencies.concat(single.latencies).sort((a, b) => a - b)
  numbers.rate = Math.max(numbers.rate, many.answers / many.seconds)
  numbers.ofOneCore = Math.max(numbers.ofOneCore, many.answers / cpu)
  numbers.failures += single.failures + many.failures
}

function print(name: string, { latencies, rate, ofOneCore, failures }: Best): void {
  const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)]
  console.log(
    `${name.padEnd(17)} p50 ${ms(p50)}  p99 ${ms(p99)} of ${latencies.length}  ${Math.round(rate)}/s with ${CONNECTIONS} connections  ${Math.round(ofOneCore)}/s of one core  ${failures} failed`,
  )
  if (failures > 0) process.exitCode = 1
}

/** Growth over a process that has passed nothing yet. */
async function measureMemory(contender: Contender): Promise<number> {
  const before = contender.memory()
  let peak = before
  const timer = setInterval(() => {
    peak = Math.max(peak, contender.memory())
  }, 50)
  const startedAt = performance.now()
  const path = contender.bigPath(STREAM_MIB)
  const sizes = await Promise.all(
    Array.from({ length: STREAMS }, (_, n) => drain(contender.port, path, n + 1)),
  )
  clearInterval(timer)
  const seconds = (performance.now() - startedAt) / 1000
  const whole = sizes.filter((size) => size >= STREAM_MIB * 1024 * 1024).length
  console.log(
    `${contender.name}: ${whole} of ${STREAMS} streams whole in ${seconds.toFixed(1)} s, memory ${Math.round(before)} MiB before them, ${Math.round(peak)} at most`,
  )
  if (whole < STREAMS) process.exitCode = 1
  return peak - before
}

function report(what: string, value: number, unit: string, isMet: boolean): void {
  console.log(`${isMet ? 'ok  ' : 'MISS'} ${what}: ${value.toFixed(2)} ${unit}`)
  if (!isMet) process.exitCode = 1
}

function ms(value: number): string {
  return `${value.toFixed(2)} ms`
}
