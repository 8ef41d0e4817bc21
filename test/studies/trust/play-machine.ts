import { readLedgerFacts } from '../../../functions/analytics/ledger-facts.ts'
import { createLog } from '../../../functions/ports/log.ts'
import { createHints } from '../../../functions/settlements/hints.ts'
import { readVerifiedSettlements } from '../../../functions/settlements/read-verified-settlements.ts'
import { toLiveListing } from '../../../src/compile/release/listing-parts.ts'
import { readContent } from '../../../src/content/read.ts'
import { createCatalogue } from '../../../src/derive/catalogue.ts'
import { readPayees } from '../../../src/derive/payouts.ts'
import type { CostOfCheating } from '../../../src/domain/independence/cost-of-cheating.ts'
import { NO_LEDGER_FACTS } from '../../../src/domain/trust/ledger-facts.ts'
import { type Chain, createChain, createNode, payment } from '../../meter/chain-double.ts'
import { createMeter, openMeterStore, prove } from '../../meter/meter-world.ts'
import { DAY_MS, NETWORK, NOON } from '../../settlements/samples.ts'
import { createContentFolder, listingText } from '../../support/content-folder.ts'
import {
  BUYERS,
  buyerOf,
  CHEAT,
  inventedHash,
  MACHINE_PLAYS,
  type MachinePlay,
  permitted,
  SEED_PAYOUTS,
  SELLER,
} from './machine-plays.ts'
import { FEE_USD } from './play-cheating.ts'

type Ledger = Awaited<ReturnType<typeof openMeterStore>>
type World = Ledger & { content: ReturnType<typeof readMarket> }

const PAYMENTS = 5 * BUYERS
const BLOCK_MS = 3_600_000
/** Enough for what the meter waits for. */
const CONFIRMED = 30
/** Buyers that measure a known seller. */
const MEASURING = 10
const BASE_URL = 'https://waypost.example'
const RULES = { allowPrivate: false }
const SEEDS = ['one', 'two', 'three']
const OF_SELLER = 'x402.0'
const OF_CHEAT = 'x402.1'
const OF_TAKEN = 'x402.taken'

/**
 * Plays each against relay, meter and build, with and without it: the score of the seller that is to lose, or of the
 * cheat that is to gain.
 */
export async function playMachine(): Promise<CostOfCheating['machine']> {
  const ledger = { ...(await openMeterStore()), content: readMarket() }
  try {
    const rows: CostOfCheating['machine'] = []
    const idle = new Map<string, Promise<number>>()
    for (const play of MACHINE_PLAYS) {
      const { id, name, aim, cost } = play
      const before = await getOrPlay(idle, withoutPlay(play), ledger)
      const after = await scoreOf(play, ledger)
      const cost_usd = Math.ceil((cost.usd + cost.transactions * FEE_USD) * 1e6) / 1e6
      const isHeld = aim === 'harm' ? after >= before : after <= before
      rows.push({ id, name, aim, cost_usd, before, after, held: isHeld })
    }
    return rows
  } finally {
    await ledger.close()
  }
}

/** The same market, in which nobody plays anything. */
function withoutPlay({ id, name, aim, cost, isUnproved, isMeasured }: MachinePlay): MachinePlay {
  return {
    ...{ id, name, aim, cost },
    ...(isUnproved === true && { isUnproved }),
    ...(isMeasured === true && { isMeasured }),
  }
}

function getOrPlay(known: Map<string, Promise<number>>, play: MachinePlay, ledger: World) {
  const { aim, isUnproved, isMeasured } = play
  const key = JSON.stringify({ aim, isUnproved, isMeasured })
  const score = known.get(key) ?? scoreOf(play, ledger)
  known.set(key, score)
  return score
}

async function scoreOf(play: MachinePlay, { store, empty, content: all }: World): Promise<number> {
  await empty()
  await store.db.deleteFrom('payment_hint').execute()
  const content = toMarket(all, play)
  const proving = play.isUnproved === true ? [] : [SELLER, CHEAT]
  await prove(store, proving)
  if (play.taken !== undefined)
    await prove(store, [play.taken], NETWORK, { id: OF_TAKEN, host: 'old.one.example' })
  const chain = record(play)
  await writeNotes(play, store, chain)
  const node = createNode(chain)
  for (const contract of play.contracts ?? []) node.codes.set(contract, '0x6080')
  const { listings } = await build(store, content)
  const published = listings
    .map(toLiveListing)
    .flatMap(({ id, payout }) =>
      payout.map((one) => ({ payout: one, listing_id: id, host: `${id}.example` })),
    )
  const meter = createMeter(store, node.rpc, chain.now, { published })
  const { stopped } = await meter.run()
  if (stopped !== null) throw new Error(`${play.id}: the meter stopped: ${stopped}`)
  const { byId } = await build(store, content)
  const trust = byId.get(play.aim === 'harm' ? OF_SELLER : OF_CHEAT)?.trust
  return trust?.evidence === 'verified_non_wash_payments' ? trust.score : 0
}

/** A seller, a cheat on another domain, three known sellers, and a name below one of them; all tables are read once. */
function readMarket() {
  const listing = (host: string, payout: string | null) =>
    listingText({
      url: `https://${host}/buy`,
      payout: payout === null ? null : `["${NETWORK}:${payout}"]`,
    })
  const folder = createContentFolder({
    'listings/x402/0.md': listing('0.example', SELLER),
    'listings/x402/1.md': listing('1.example', SELLER),
    'listings/x402/taken.md': listing('old.one.example', null),
    'tables/independent_operators.yaml': SEEDS.map(
      (name) => `- { domain: ${name}.example, name: ${name}, why: Known to everybody. }\n`,
    ).join(''),
    ...Object.fromEntries(
      SEEDS.map((name, n) => [
        `listings/x402/${name}.md`,
        listing(`${name}.example`, SEED_PAYOUTS[n] ?? null),
      ]),
    ),
  })
  const { content, faults } = readContent(folder.dir, RULES)
  folder.remove()
  if (content === null) throw new Error(JSON.stringify(faults))
  return content
}

/** The market as a play has it: who publishes the seller's payee. */
function toMarket(
  content: ReturnType<typeof readMarket>,
  { isContested, isUnproved, taken }: MachinePlay,
): ReturnType<typeof readMarket> {
  const isQuiet = (id: string) =>
    (id === OF_SELLER && isUnproved !== true) || (id === OF_CHEAT && isContested !== true)
  const listings = content.listings
    .filter(({ id }) => id !== OF_TAKEN || taken !== undefined)
    .map((file) => (isQuiet(file.id) ? { ...file, facts: { ...file.facts, payout: [] } } : file))
  return { ...content, listings }
}

async function build(store: Ledger['store'], content: ReturnType<typeof readMarket>) {
  const owners = { ...NO_LEDGER_FACTS, ...(await readLedgerFacts(store, NOON)) }
  const payees = () => readPayees(content, owners, BASE_URL)
  const ledger = { ...owners, ...(await readVerifiedSettlements(store, payees, NOON)) }
  return createCatalogue(content, { baseUrl: BASE_URL, rules: RULES, asOf: '2026-11-20', ledger })
}

/** The play, and twenty buyers who pay the seller five times each by Permit2. */
function record({ before = [], beside, isMeasured }: MachinePlay): Chain {
  const chain = createChain({ start: NOON - 6 * DAY_MS, blockMs: BLOCK_MS })
  for (const transactions of before) chain.mine(...transactions)
  if (isMeasured === true)
    for (let n = 0; n < MEASURING; n += 1)
      chain.mine(...SEED_PAYOUTS.map((payout) => payment(buyerOf(n), payout, 260_000)))
  for (let n = 0; n < PAYMENTS; n += 1)
    chain.mine(permitted(buyerOf(n), SELLER), ...(beside?.(buyerOf(n), SELLER, n) ?? []))
  for (let n = 0; n < CONFIRMED; n += 1) chain.mine()
  return chain
}

/** The relay notes what answers say: here the cheat's listing answers with transactions of the seller's, and invents. */
async function writeNotes({ notes }: MachinePlay, store: Ledger['store'], chain: Chain) {
  if (notes === undefined) return
  const clock = { now: chain.now }
  const hints = createHints({ store, clock, log: createLog(() => {}, clock.now) })
  const paid = chain.blocks.flatMap(({ calls }) => [...calls.keys()])
  const invented = Array.from({ length: notes }, (_, n) => inventedHash(n))
  for (const [n, transaction] of [...paid, ...invented].entries()) {
    const receipt = Buffer.from(JSON.stringify({ success: true, transaction })).toString('base64')
    const called = { id: n < paid.length ? OF_CHEAT : OF_SELLER, payout: [`${NETWORK}:${SELLER}`] }
    hints.note(called, `client ${n}`, ['PAYMENT-RESPONSE', receipt])
    await hints.written()
  }
}
