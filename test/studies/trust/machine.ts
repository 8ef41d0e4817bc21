import { createLog } from '../../../functions/ports/log.ts'
import { createHints } from '../../../functions/trust/measure.ts'
import {
  type Chain,
  createChain,
  createNode,
  payment,
  permitted,
  type RawCall,
  type RawLog,
  transfer,
} from '../../meter/chain-double.ts'
import {
  buildMarket,
  type Content,
  createMeter,
  KNOWN_OPERATORS,
  openMeterStore,
  prove,
  readMarket,
} from '../../meter/meter-world.ts'
import { DAY_MS, NETWORK, NOON, wallet } from '../../settlements/samples.ts'
import { listingText } from '../../support/content-folder.ts'

/**
 * Plays against what is before the formula: the relay's notes, the meter, and the list of whose payees are
 * whose. Each is recorded on a chain that the meter reads; the build then says whose the payments are.
 */
interface Play {
  /** The seller is to lose score by it, or the cheat is to gain some. */
  aim: 'harm' | 'gain'
  /** What the chain records of it, before the seller's buyers pay, or beside the n-th payment. */
  before?: readonly Transaction[][]
  beside?: (n: number) => Transaction[]
  /** Three known sellers are measured. */
  isMeasured?: true
  /** The seller's payee is published by itself and not proved. */
  isUnproved?: true
  /** The cheat publishes the seller's payee as its own. */
  isContested?: true
  /** The cheat signed with a wallet for a name below a known seller's domain. */
  taken?: string
  /** Invented notes of relayed calls, beside one for each of the seller's payments. */
  notes?: number
}

type Transaction = RawLog[] | { logs: RawLog[]; call: RawCall }

const [SELLER, CHEAT] = [wallet(1), wallet(2)]
const [POOL, BANK, TAKEN] = [wallet(801), wallet(802), wallet(803)]
const seedPayout = (n: number) => wallet(3 + n)
const BUYERS = 20
const WALLETS = 40
const buyerOf = (n: number) => wallet(20 + (n % BUYERS))
const own = (n: number) => wallet(300 + n)
/** A cent. */
const AMOUNT = 10_000
const many = (count: number, of: (n: number) => Transaction) =>
  Array.from({ length: count }, (_, n) => of(n))
/** Own wallets that pay one amount within minutes. */
const crowd = (n: number) =>
  n === 0 ? many(WALLETS, (one) => payment(own(one), CHEAT, AMOUNT)) : []

export const PLAYS: Record<string, Play> = {
  'six hundred large transfers to a payee of the rival’s own': {
    aim: 'harm',
    before: [many(600, () => [transfer(BANK, CHEAT, 5_000_000)])],
  },
  'five hundred transfers to the seller of more than its buyers pay': {
    aim: 'harm',
    before: [many(500, (n) => [transfer(own(n), SELLER, AMOUNT + 1)])],
  },
  'the seller’s payee, published as one’s own, before the seller proves it': {
    aim: 'harm',
    isUnproved: true,
    isContested: true,
  },
  'the same, once the seller proved it': { aim: 'harm', isContested: true },
  'five hundred invented notes, and each payment of the seller’s named as the rival’s': {
    aim: 'harm',
    notes: 500,
  },
  'a refund of the seller’s, given to each buyer under dust before it first pays': {
    aim: 'harm',
    before: [
      [
        [transfer(SELLER, BANK, 50_000)],
        ...many(BUYERS, (n) => [transfer(POOL, buyerOf(n), 5_000_000)]),
      ],
      many(9 * BUYERS, (n) => [transfer(own(n), buyerOf(n), 1)]),
      many(BUYERS, (n) => [transfer(BANK, buyerOf(n), 2_500)]),
    ],
  },
  'money of the seller’s, sold into the pool of the bridge that its buyers come by': {
    aim: 'harm',
    before: [
      [[transfer(SELLER, POOL, 90_000)]],
      many(BUYERS, (n) => [transfer(POOL, buyerOf(n), 900_000)]),
    ],
  },
  'another seller’s signed payments, called through our relay for the cheat’s listing': {
    aim: 'gain',
    notes: 0,
  },
  'a name below a known seller’s domain, whose payee own wallets pay': {
    aim: 'gain',
    isMeasured: true,
    taken: TAKEN,
    beside: (n) =>
      n < WALLETS ? [payment(own(n), TAKEN, 260_000), payment(own(n), CHEAT, 10_000 + n)] : [],
  },
  'a crowd within minutes, filled from one wallet, where nobody is measured': {
    aim: 'gain',
    before: [many(WALLETS, (n) => [transfer(BANK, own(n), 20_000)])],
    beside: crowd,
  },
  'the same, filled by a contract that looks like a bridge': {
    aim: 'gain',
    before: [many(WALLETS, (n) => [transfer(POOL, own(n), 20_000)])],
    beside: crowd,
  },
}

type Ledger = Awaited<ReturnType<typeof openMeterStore>>

const [OF_SELLER, OF_CHEAT, OF_TAKEN] = ['x402.0', 'x402.1', 'x402.taken'] as const

export async function openMachine() {
  const ledger = await openMeterStore()
  const content = readSellers()
  return {
    /** The score of the seller that is to lose, or of the cheat that is to gain. */
    scoreOf: (play: Play) => scoreOf(play, ledger, toMarket(content, play)),
    close: ledger.close,
  }
}

/** The same market, in which nobody plays anything. */
export function withoutPlay({ aim, isUnproved, isMeasured }: Play): Play {
  return { aim, ...(isUnproved && { isUnproved }), ...(isMeasured && { isMeasured }) }
}

async function scoreOf(play: Play, { store, empty }: Ledger, content: Content): Promise<number> {
  await empty()
  await store.db.deleteFrom('payment_hint').execute()
  await prove(store, play.isUnproved ? [] : [SELLER, CHEAT])
  if (play.taken !== undefined)
    await prove(store, [play.taken], NETWORK, { id: OF_TAKEN, host: 'old.one.example' })
  const chain = record(play)
  await writeNotes(play, store, chain)
  const node = createNode(chain)
  node.codes.set(POOL, '0x6080')
  const { published } = await buildMarket(store, content)
  const { stopped } = await createMeter(store, node.rpc, chain.now, { published }).run()
  if (stopped !== null) throw new Error(`the meter stopped: ${stopped}`)
  const { byId } = await buildMarket(store, content)
  const trust = byId.get(play.aim === 'harm' ? OF_SELLER : OF_CHEAT)?.trust
  return trust?.evidence === 'verified_non_wash_payments' ? trust.score : 0
}

/** A seller, a cheat on another domain, three known sellers, and a name below one of them. */
function readSellers() {
  const listing = (host: string, payout: string | null) =>
    listingText({
      url: `https://${host}/buy`,
      payout: payout === null ? null : `["${NETWORK}:${payout}"]`,
    })
  return readMarket({
    'listings/x402/0.md': listing('0.example', SELLER),
    'listings/x402/1.md': listing('1.example', SELLER),
    'listings/x402/taken.md': listing('old.one.example', null),
    ...Object.fromEntries(
      KNOWN_OPERATORS.map((name, n) => [
        `listings/x402/${name}.md`,
        listing(`${name}.example`, seedPayout(n)),
      ]),
    ),
  })
}

/** The market as a play has it: who publishes the seller's payee. */
function toMarket(content: Content, { isContested, isUnproved, taken }: Play): Content {
  const isQuiet = (id: string) =>
    (id === OF_SELLER && !isUnproved) || (id === OF_CHEAT && !isContested)
  const listings = content.listings
    .filter(({ id }) => id !== OF_TAKEN || taken !== undefined)
    .map((file) => (isQuiet(file.id) ? { ...file, facts: { ...file.facts, payout: [] } } : file))
  return { ...content, listings }
}

/** The play, and twenty buyers who pay the seller five times each by Permit2. */
function record({ before = [], beside = () => [], isMeasured }: Play): Chain {
  const chain = createChain({ start: NOON - 6 * DAY_MS, blockMs: 3_600_000 })
  for (const transactions of before) chain.mine(...transactions)
  if (isMeasured)
    for (let n = 0; n < 10; n += 1)
      chain.mine(
        ...KNOWN_OPERATORS.map((_, seed) => payment(buyerOf(n), seedPayout(seed), 260_000)),
      )
  for (let n = 0; n < 5 * BUYERS; n += 1)
    chain.mine(permitted(buyerOf(n), SELLER, AMOUNT), ...beside(n))
  // Enough for what the meter waits for.
  for (let n = 0; n < 30; n += 1) chain.mine()
  return chain
}

/** The relay notes what answers say: the cheat's listing answers with transactions of the seller's, and invents. */
async function writeNotes({ notes }: Play, store: Ledger['store'], chain: Chain) {
  if (notes === undefined) return
  const clock = { now: chain.now }
  const hints = createHints({ store, clock, log: createLog(() => {}, clock.now) })
  const paid = chain.blocks.flatMap(({ calls }) => [...calls.keys()])
  const invented = Array.from({ length: notes }, (_, n) => `0x${n.toString(16).padStart(64, '0')}`)
  for (const [n, transaction] of [...paid, ...invented].entries()) {
    const called = { id: n < paid.length ? OF_CHEAT : OF_SELLER, payout: [`${NETWORK}:${SELLER}`] }
    hints.note(called, `client ${n}`, transaction)
    await hints.written()
  }
}
