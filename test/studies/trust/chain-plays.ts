import { payment, type RawCall, type RawLog, transfer } from '../../meter/chain-double.ts'
import { TOKEN, wallet } from '../../settlements/samples.ts'

/**
 * Transactions as a chain records them: real ones, and forged ones that cost a cheat no payment. The meter
 * reads them as it reads any chain.
 */
export interface ChainPlay {
  id: string
  name: string
  /** One transaction that should look like a payment to the cheat's payout by a stranger. */
  record: (buyer: string, payout: string, n: number) => RawLog[] | { logs: RawLog[]; call: RawCall }
  /** Blocks that are taken back after the meter has read them. */
  isTakenBack?: true
  /** The payments are for another seller, and relayed calls say they were for the cheat's. */
  isClaimed?: true
}

/** A cent. */
const AMOUNT = 10_000
const FOREIGN_COIN = wallet(901)
const POOL = wallet(902)
const OWN = wallet(903)
const FORGER = wallet(904)
const EXACT_PROXY = '0x402085c248eea27d92e8b30b2c58ed07f9e20001'
const SETTLE = '0x13cd3b53'

const word = (value: string | number) =>
  (typeof value === 'number' ? value.toString(16) : value.slice(2)).padStart(64, '0')
const words = (...values: (string | number)[]) => `0x${values.map(word).join('')}`

/** A call of the Permit2 proxy, or of what looks like it, with the transfer it makes. */
function permitted(
  { coin = TOKEN, to = EXACT_PROXY, payer = '' },
  { buyer, payout }: { buyer: string; payout: string },
) {
  const input = `${SETTLE}${words(coin, AMOUNT, 7, 9, buyer, payout, 0, 0).slice(2)}`
  return {
    logs: [transfer(payer === '' ? buyer : payer, payout, AMOUNT)],
    call: { from: FORGER, to, input },
  }
}

export const CHAIN_PLAYS: readonly ChainPlay[] = [
  {
    id: 'real',
    name: 'Real payments by signature, for comparison',
    record: (buyer, payout) => payment(buyer, payout, AMOUNT),
  },
  {
    id: 'real_permit2',
    name: 'Real payments by Permit2, for comparison',
    record: (buyer, payout) => permitted({}, { buyer, payout }),
  },
  {
    id: 'wrong_token',
    name: 'Payments in a coin of the cheat’s own that is called as the real one',
    record: (buyer, payout) => payment(buyer, payout, AMOUNT, FOREIGN_COIN),
  },
  {
    id: 'forged_use',
    name: 'A signature’s record by a contract of the cheat’s own, and a plain transfer of the real coin behind it',
    record: (buyer, payout) => [
      ...payment(buyer, payout, AMOUNT, FOREIGN_COIN).slice(0, 1),
      transfer(buyer, payout, AMOUNT),
    ],
  },
  {
    id: 'replaced',
    name: 'A stranger’s signature that pays another wallet a millionth, and a pool’s transfer to the payout behind it',
    record: (buyer, payout) => [...payment(buyer, OWN, 1), transfer(POOL, payout, AMOUNT)],
  },
  {
    id: 'one_signature',
    name: 'One signature for a millionth, and a plain transfer of the same wallet behind it',
    record: (buyer, payout) => [...payment(buyer, OWN, 1), transfer(buyer, payout, AMOUNT)],
  },
  {
    id: 'own_proxy',
    name: 'Permit2’s call to a proxy of the cheat’s own',
    record: (buyer, payout) => permitted({ to: FORGER, payer: POOL }, { buyer, payout }),
  },
  {
    id: 'own_coin',
    name: 'The true Permit2 proxy, called with a coin of the cheat’s own that makes a pool pay in the real one',
    record: (buyer, payout) => permitted({ coin: FOREIGN_COIN, payer: POOL }, { buyer, payout }),
  },
  {
    id: 'nothing',
    name: 'Signatures for nothing',
    record: (buyer, payout) => payment(buyer, payout, 0),
  },
  {
    id: 'copied',
    name: 'Another seller’s payments, each named to our relay as paid for the cheat’s listing',
    isClaimed: true,
    record: (buyer, payout) => payment(buyer, payout, AMOUNT),
  },
  {
    id: 'taken_back',
    name: 'Real payments that the chain takes back after they were read',
    isTakenBack: true,
    record: (buyer, payout) => payment(buyer, payout, AMOUNT),
  },
]
