import { type Contender, startNginx, startScript } from './relay/contenders.ts'
import { drain, load, percentile } from './relay/raw-load.ts'

/**
 * What the relay costs: added latency and requests a second against calling the seller directly,
 * beside nginx and a plain `http-proxy` in the same run; and its memory while 100 streams pass.
 *
 * Each contender has core 0 to itself; seller and load share core 1. `of one core` is what the CPU
 * time a request would give if the core did nothing else: on a machine where the load is the slower
 * half, it is the number that compares the contenders.
 */
const SECONDS = Number(process.env.SECONDS ?? 6)
const CONNECTIONS = Number(process.env.CONNECTIONS ?? 32)
const STREAMS = Number(process.env.STREAMS ?? 100)
const STREAM_MIB = Number(process.env.STREAM_MIB ?? 100)

/** Targets: added p50 (ms), share of nginx's requests a second, memory growth (MiB). */
const TARGET = { addedP50: 0.5, shareOfNginx: 0.5, growth: 64 }

const seller = await startScript('direct', 'seller-process.ts', '', 1)
const origin = `http://127.0.0.1:${seller.port}`
const relay = await startScript('relay', 'relay-process.ts', origin, 0)
const nginx = await startNginx(seller.port)
if (nginx === null) console.log('nginx is not installed: the comparison with it is skipped')
const httpProxy = await startScript('http-proxy', 'http-proxy-process.ts', origin, 0)
const contenders = [seller, relay, ...(nginx === null ? [] : [nginx]), httpProxy]

const rates = new Map<string, number>()
const medians = new Map<string, number>()
for (const contender of contenders) await measure(contender)
const growth = await measureMemory(relay)
const added = (medians.get('relay') ?? 0) - (medians.get('direct') ?? 0)
report('added p50', added, 'ms', added <= TARGET.addedP50)
if (nginx !== null) {
  const share = (rates.get('relay') ?? 0) / (rates.get(nginx.name) ?? 1)
  report('requests/s of one core, of nginx', share, '×', share >= TARGET.shareOfNginx)
}
report(`memory growth, ${STREAMS} × ${STREAM_MIB} MiB`, growth, 'MiB', growth <= TARGET.growth)
for (const contender of contenders) contender.stop()

async function measure(contender: Contender): Promise<void> {
  const { name, port, path } = contender
  await load(port, path, { connections: CONNECTIONS, seconds: 1.5 })
  const single = await load(port, path, { connections: 1, seconds: SECONDS / 2 })
  const before = contender.cpu()
  const many = await load(port, path, { connections: CONNECTIONS, seconds: SECONDS })
  const cpu = contender.cpu() - before
  const rate = many.answers / many.seconds
  const ofOneCore = many.answers / cpu
  rates.set(name, ofOneCore)
  medians.set(name, percentile(single.latencies, 0.5))
  console.log(
    [
      name.padEnd(17),
      `alone p50 ${ms(percentile(single.latencies, 0.5))} p99 ${ms(percentile(single.latencies, 0.99))}`,
      `${CONNECTIONS} at once: ${Math.round(rate)}/s p50 ${ms(percentile(many.latencies, 0.5))} p99 ${ms(percentile(many.latencies, 0.99))}`,
      `of one core ${Math.round(ofOneCore)}/s`,
      many.failures > 0 ? `FAILED ${many.failures}` : '',
    ].join('  '),
  )
}

async function measureMemory(contender: Contender): Promise<number> {
  const before = contender.memory()
  let peak = before
  const timer = setInterval(() => {
    peak = Math.max(peak, contender.memory())
  }, 50)
  const startedAt = performance.now()
  const path = contender.bigPath(STREAM_MIB)
  const sizes = await Promise.all(
    Array.from({ length: STREAMS }, () => drain(contender.port, path)),
  )
  clearInterval(timer)
  const seconds = (performance.now() - startedAt) / 1000
  const whole = sizes.filter((size) => size >= STREAM_MIB * 1024 * 1024).length
  console.log(
    `${contender.name}: ${whole} of ${STREAMS} streams whole in ${seconds.toFixed(1)} s, memory ${Math.round(before)} → ${Math.round(peak)} MiB`,
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
