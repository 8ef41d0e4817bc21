import type { Settlement } from '../settlement/settlement.ts'
import { normalizeWallet } from '../wash/wash-rules.ts'

/** What was paid in the window, and to whom. */
export interface Market {
  /** Counted payments of the window by listing id; one to a shared payout stands with each listing. */
  payments: ReadonlyMap<string, readonly Settlement[]>
  /** Operator by listing id; payments to listings that are not in it are left out. */
  operatorOf: ReadonlyMap<string, string>
  /** Operators known to be independent of each other and of everybody here. */
  seeds: ReadonlySet<string>
  /** Operators that sell what is as good as money: whoever pays them has given nothing away. */
  cashLike: ReadonlySet<string>
}

export interface Wallet {
  /** Millionths of a dollar, by operator. */
  paid: Map<string, number>
  /** Millionths of a dollar for each listing it bought from, by operator. */
  bought: Map<string, Map<string, number>>
}

const MICRO = 1_000_000

export function readWallets({ payments, operatorOf }: Market): Map<string, Wallet> {
  const wallets = new Map<string, Wallet>()
  const isFirst = createOnce(findRepeated(operatorOf.values()))
  for (const [id, settlements] of payments) {
    const operator = operatorOf.get(id)
    if (operator === undefined) continue
    for (const settlement of settlements) {
      const name = normalizeWallet(settlement.payer)
      const wallet = wallets.get(name) ?? { paid: new Map(), bought: new Map() }
      wallets.set(name, wallet)
      const micros = Math.round(settlement.usd * MICRO)
      const listings = wallet.bought.get(operator) ?? new Map<string, number>()
      wallet.bought.set(operator, add(listings, id, micros))
      if (isFirst(settlement, operator)) add(wallet.paid, operator, micros)
    }
  }
  // Who bought from one operator alone is vouched for by nobody, and vouches for nobody.
  for (const [name, { paid }] of wallets) if (paid.size < 2) wallets.delete(name)
  return wallets
}

function add(sums: Map<string, number>, key: string, more: number): Map<string, number> {
  return sums.set(key, (sums.get(key) ?? 0) + more)
}

/** A payment that stands with several listings of one operator was made once. */
function createOnce(ofSeveral: ReadonlySet<string>) {
  const seen = new Set<string>()
  return ({ network, transaction, log_index }: Settlement, operator: string): boolean => {
    if (!ofSeveral.has(operator)) return true
    const key = `${network} ${transaction} ${log_index} ${operator}`
    return !seen.has(key) && seen.add(key) !== null
  }
}

function findRepeated(names: Iterable<string>): Set<string> {
  const seen = new Set<string>()
  return new Set([...names].filter((name) => seen.has(name) || !seen.add(name)))
}

/**
 * Where money of others is short, those come first who gave most for each listing to sellers that
 * seem real: else a rival would push a seller's buyers out with many wallets that gave next to nothing.
 */
export function byGenerosity(
  wallets: ReadonlyMap<string, Wallet>,
  market: Market,
): [string, Wallet][] {
  const backing = new Map<string, number>()
  for (const { paid } of wallets.values()) {
    const toSeeds = sumToSeeds(paid, market)
    for (const [operator, micros] of paid) add(backing, operator, Math.min(micros, toSeeds))
  }
  const worth = new Map<string, number>()
  for (const [name, { paid, bought }] of wallets) {
    let given = 0
    for (const [operator, micros] of paid)
      if (!market.cashLike.has(operator)) given += Math.min(micros, backing.get(operator) ?? 0)
    worth.set(name, given / countListings(bought))
  }
  return [...wallets].sort(
    ([a], [b]) => (worth.get(b) ?? 0) - (worth.get(a) ?? 0) || (a < b ? -1 : 1),
  )
}

function sumToSeeds(paid: Wallet['paid'], { seeds, cashLike }: Market): number {
  let sum = 0
  for (const [operator, micros] of paid)
    if (seeds.has(operator) && !cashLike.has(operator)) sum += micros
  return sum
}

export function countListings(bought: Wallet['bought']): number {
  let count = 0
  for (const listings of bought.values()) count += listings.size
  return count
}
