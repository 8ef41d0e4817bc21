import { paymentHeaders } from '../../receipts/observed-relay.ts'
import { load } from '../http-load.ts'
import { type Contender, startScript } from './contenders.ts'

/**
 * What it costs to judge paid calls: a relay that does and one that does not, in turn in one run. Each is
 * on core 0, seller and load on core 1. Of each pair of short slices the relays' CPU seconds by answer are
 * compared, judging and writing receipts included: what is written after a slice's last answer counts for
 * that slice. The median of all pairs counts. In slices much shorter than these, what else the machine
 * does weighs as much as what is compared: half of all pairs of a third of a second differ by more than
 * a tenth from their median.
 */
const ROUNDS = Number(process.env.ROUNDS ?? 12)
const CONNECTIONS = Number(process.env.CONNECTIONS ?? 16)
const SECONDS = Number(process.env.SECONDS ?? 2)
const WARM_ANSWERS = 4_000
/** Receipts are gathered for half a second before they are written. */
const SETTLE_MS = 800
/** Shares of the speed without receipts. */
const TARGET = { unpaid: 0.95, paid: 0.85 }

const lines = Object.entries(paymentHeaders('x402-v2')).map((pair) => `${pair.join(': ')}\r\n`)
const HEADERS = { unpaid: '', paid: lines.join('') }
const seller = await startScript('direct', 'seller-process.ts', '', 1, 'settles')
const origin = `http://127.0.0.1:${seller.port}`
const relays = {
  off: await startScript('without receipts', 'relay-process.ts', origin, 0, 'off'),
  on: await startScript('with receipts', 'relay-process.ts', origin, 0, 'on'),
}
for (const kind of ['unpaid', 'paid'] as const) {
  for (const relay of Object.values(relays)) await ask(relay, kind, { requests: WARM_ANSWERS })
  const shares: number[] = []
  const costs: Record<keyof typeof relays, number[]> = { off: [], on: [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    // Who is asked first changes with each round: what else the machine does falls on both.
    const order = round % 2 === 0 ? (['off', 'on'] as const) : (['on', 'off'] as const)
    for (const name of order) costs[name].push(await ask(relays[name], kind, { seconds: SECONDS }))
    shares.push((costs.off.at(-1) ?? 0) / (costs.on.at(-1) ?? 1))
  }
  const [off, on, share] = [middleOf(costs.off), middleOf(costs.on), middleOf(shares)]
  const isMet = share >= TARGET[kind]
  console.log(
    `${isMet ? 'ok  ' : 'MISS'} ${kind}: ${share.toFixed(3)} of the speed (${micros(off)} µs of CPU a call without, ${micros(on)} with)`,
  )
  if (!isMet) process.exitCode = 1
}
for (const each of [seller, ...Object.values(relays)]) each.stop()

/** @returns CPU seconds by answer */
async function ask(
  relay: Contender,
  kind: keyof typeof HEADERS,
  bound: { seconds: number } | { requests: number },
): Promise<number> {
  const before = relay.cpu()
  const { answers, failures } = await load(relay.port, ['/api/v1/call/x402.seller'], {
    ...{ connections: CONNECTIONS, headers: HEADERS[kind] },
    ...bound,
  })
  if (failures > 0) throw new Error(`${relay.name}: ${failures} of ${answers} calls failed`)
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  return (relay.cpu() - before) / answers
}

function middleOf(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN
}

function micros(seconds: number): string {
  return (seconds * 1e6).toFixed(0)
}
