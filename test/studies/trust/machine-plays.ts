import { createHash } from 'node:crypto'
import { payment, type RawCall, type RawLog, transfer } from '../../meter/chain-double.ts'
import { TOKEN, wallet } from '../../settlements/samples.ts'

/**
 * Plays against what is before the formula: the relay's notes, the meter, and the list of whose payees are whose. Each
 * is recorded on a chain that the meter reads; the build then says whose the payments are.
 */
export interface MachinePlay {
  id: string
  name: string
  /** The seller is to lose score by it, or the cheat is to gain some. */
  aim: 'harm' | 'gain'
  /** What the chain records of it, before the seller's buyers pay, or beside them. */
  before?: readonly Transaction[][]
  beside?: (buyer: string, seller: string, n: number) => Transaction[]
  /** Three known sellers are measured. */
  isMeasured?: true
  /** The seller's payee is published by itself and not proved. */
  isUnproved?: true
  /** The cheat publishes the seller's payee as its own. */
  isContested?: true
  /** The cheat signed with a wallet for a name below a known seller's domain. */
  taken?: string
  /** Wallets that are contracts. */
  contracts?: readonly string[]
  /** Invented notes of relayed calls, beside one for each of the seller's payments. */
  notes?: number
  /** Transactions that the rival pays for, and dollars that it never sees again. */
  cost: { transactions: number; usd: number }
}

type Transaction = RawLog[] | { logs: RawLog[]; call: RawCall }

export const [SELLER, CHEAT] = [wallet(1), wallet(2)] as const
export const SEED_PAYOUTS = [wallet(3), wallet(4), wallet(5)] as const
export const BUYERS = 20
export const buyerOf = (n: number) => wallet(20 + (n % BUYERS))
/** A cent. */
export const AMOUNT = 10_000
const [POOL, BANK, TAKEN] = [wallet(801), wallet(802), wallet(803)] as const
const own = (n: number) => wallet(300 + n)
const WALLETS = 40
const many = (count: number, of: (n: number) => Transaction) =>
  Array.from({ length: count }, (_, n) => of(n))
const FLOOD = 500

export const MACHINE_PLAYS: readonly MachinePlay[] = [
  {
    id: 'flood_own_payee',
    name: 'Six hundred large transfers to a payee of the rival’s own, where the seller is paid by Permit2',
    aim: 'harm',
    before: [many(600, () => [transfer(BANK, CHEAT, 5_000_000)])],
    cost: { transactions: 600, usd: 0 },
  },
  {
    id: 'flood_payee',
    name: `${FLOOD} transfers to the seller of more than its buyers pay, a cent, by Permit2; hides one stretch of at most 10,000 blocks`,
    aim: 'harm',
    before: [many(FLOOD, (n) => [transfer(own(n), SELLER, AMOUNT + 1)])],
    cost: { transactions: FLOOD, usd: (FLOOD * (AMOUNT + 1)) / 1_000_000 },
  },
  {
    id: 'contested',
    name: 'The seller’s payee, published as one’s own, before the seller proves it',
    aim: 'harm',
    isUnproved: true,
    isContested: true,
    cost: { transactions: 0, usd: 0 },
  },
  {
    id: 'contested_proved',
    name: 'The same, once the seller proved it',
    aim: 'harm',
    isContested: true,
    cost: { transactions: 0, usd: 0 },
  },
  {
    id: 'notes',
    name: 'Five hundred invented notes through our relay, and each payment of the seller’s named as the rival’s',
    aim: 'harm',
    notes: 500,
    cost: { transactions: 0, usd: 0 },
  },
  {
    id: 'refund_given',
    name: 'A refund of the seller’s, given to each buyer before it first pays, under dust that hides what the buyer had',
    aim: 'harm',
    before: [
      [
        [transfer(SELLER, BANK, 50_000)],
        ...many(BUYERS, (n) => [transfer(POOL, buyerOf(n), 5_000_000)]),
      ],
      many(9 * BUYERS, (n) => [transfer(own(n), buyerOf(n), 1)]),
      many(BUYERS, (n) => [transfer(BANK, buyerOf(n), 2_500)]),
    ],
    contracts: [POOL],
    cost: { transactions: 10 * BUYERS, usd: 0.05 },
  },
  {
    id: 'into_bridge',
    name: 'Money of the seller’s, sold into the pool of the bridge that its buyers come by',
    aim: 'harm',
    before: [
      [[transfer(SELLER, POOL, 90_000)]],
      many(BUYERS, (n) => [transfer(POOL, buyerOf(n), 900_000)]),
    ],
    contracts: [POOL],
    cost: { transactions: 1, usd: 0.09 },
  },
  {
    id: 'copied',
    name: 'Another seller’s signed payments, copied from the network and called through our relay for the cheat’s listing',
    aim: 'gain',
    notes: 0,
    cost: { transactions: 0, usd: 0 },
  },
  {
    id: 'taken_name',
    name: 'A name below a known seller’s domain, taken over and claimed, whose payee own wallets pay',
    aim: 'gain',
    isMeasured: true,
    taken: TAKEN,
    beside: (_buyer, _seller, n) =>
      n < WALLETS ? [payment(own(n), TAKEN, 260_000), payment(own(n), CHEAT, 10_000 + n)] : [],
    cost: { transactions: 2 * WALLETS, usd: 0 },
  },
  {
    id: 'crowd',
    name: 'Own wallets that pay one amount within minutes, filled from one wallet, where nobody is measured',
    aim: 'gain',
    before: [many(WALLETS, (n) => [transfer(BANK, own(n), 20_000)])],
    beside: (_buyer, _seller, n) =>
      n === 0 ? many(WALLETS, (one) => payment(own(one), CHEAT, AMOUNT)) : [],
    cost: { transactions: 2 * WALLETS, usd: 0 },
  },
  {
    id: 'crowd_of_pool',
    name: 'The same, filled by a contract of the cheat’s own, which looks like a bridge',
    aim: 'gain',
    before: [many(WALLETS, (n) => [transfer(POOL, own(n), 20_000)])],
    beside: (_buyer, _seller, n) =>
      n === 0 ? many(WALLETS, (one) => payment(own(one), CHEAT, AMOUNT)) : [],
    contracts: [POOL],
    cost: { transactions: 2 * WALLETS, usd: 0 },
  },
]

const EXACT_PROXY = '0x402085c248eea27d92e8b30b2c58ed07f9e20001'

/** A buyer's payment by Permit2, which the meter must look up. */
export function permitted(buyer: string, payout: string): Transaction {
  const word = (value: string | number) =>
    (typeof value === 'number' ? value.toString(16) : value.slice(2)).padStart(64, '0')
  const words = [TOKEN, AMOUNT, 7, 9, buyer, payout, 0, 0].map(word).join('')
  const call = { from: wallet(900), to: EXACT_PROXY, input: `0x13cd3b53${words}` }
  return { logs: [transfer(buyer, payout, AMOUNT)], call }
}

/** A transaction nobody made. */
export const inventedHash = (n: number) =>
  `0x${createHash('sha256').update(`note ${n}`).digest('hex')}`
