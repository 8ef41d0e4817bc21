import { createLog } from '../../../functions/ports/log.ts'
import { createHints } from '../../../functions/settlements/hints.ts'
import type { CostOfCheating } from '../../../src/domain/independence/cost-of-cheating.ts'
import { judgeTrust } from '../../../src/domain/trust/trust.ts'
import { createChain, createNode } from '../../meter/chain-double.ts'
import { createMeter, openMeterStore, prove } from '../../meter/meter-world.ts'
import { DAY_MS, NETWORK, NOON, wallet } from '../../settlements/samples.ts'
import { CHAIN_PLAYS, type ChainPlay } from './chain-plays.ts'

const [CHEAT, OTHER] = [wallet(1), wallet(2)]
const WALLETS = 40
const PAYMENTS = 200
const BLOCK_MS = 3_600_000
/** Enough for what the meter waits for. */
const CONFIRMED = 30

type Ledger = Awaited<ReturnType<typeof openMeterStore>>

/**
 * Plays each on a chain of its own, read by the meter into the ledger and scored from there, where no known
 * seller is measured: there everybody counts who is taken for a buyer.
 */
export async function playChains(): Promise<CostOfCheating['forged']> {
  const ledger = await openMeterStore()
  const found: CostOfCheating['forged'] = []
  try {
    for (const play of CHAIN_PLAYS) {
      await ledger.empty()
      found.push(await playOne(play, ledger))
    }
  } finally {
    await ledger.close()
  }
  return found
}

async function playOne(
  play: ChainPlay,
  { store }: Ledger,
): Promise<CostOfCheating['forged'][number]> {
  const { id, name, record } = play
  await prove(store, [CHEAT, OTHER])
  const chain = createChain({ start: NOON - 20 * DAY_MS, blockMs: BLOCK_MS })
  const payout = play.isClaimed === true ? OTHER : CHEAT
  for (let n = 0; n < PAYMENTS; n += 1) chain.mine(record(wallet(20 + (n % WALLETS)), payout, n))
  for (let n = 0; n < CONFIRMED; n += 1) chain.mine()
  if (play.isClaimed === true) await claimCalls(store, chain)
  const meter = createMeter(store, createNode(chain).rpc, chain.now)
  const { stopped } = await meter.run()
  if (stopped !== null) throw new Error(`${id}: the meter stopped: ${stopped}`)
  if (play.isTakenBack === true) {
    chain.reorganise(PAYMENTS + CONFIRMED)
    for (let n = 0; n < PAYMENTS + 2 * CONFIRMED; n += 1) chain.mine()
    await meter.run()
  }
  const { settlements } = await meter.facts([CHEAT, OTHER])
  const measured = settlements.get('x402.0')
  const verdict = judgeTrust(measured, 1, measured?.as_of ?? '')
  const score = verdict.evidence === 'verified_non_wash_payments' ? verdict.score : 0
  return { id, name, payments: PAYMENTS, counted: measured?.settlements_30d ?? 0, score }
}

/** The relay notes what answers say: here a cheat's listing answers with the other seller's transactions. */
async function claimCalls(store: Ledger['store'], chain: ReturnType<typeof createChain>) {
  const clock = { now: chain.now }
  const hints = createHints({ store, clock, log: createLog(() => {}, clock.now) })
  const called = { id: 'x402.0', payout: [`${NETWORK}:${CHEAT}`] }
  const transactions = chain.blocks.flatMap(({ calls }) => [...calls.keys()])
  for (const [n, transaction] of transactions.entries()) {
    const receipt = Buffer.from(JSON.stringify({ success: true, transaction })).toString('base64')
    hints.note(called, `client ${n}`, ['PAYMENT-RESPONSE', receipt])
    await hints.written()
  }
}
