import type { Settlement } from '../settlement/settlement.ts'
import { normalizeWallet } from '../wash/wash-rules.ts'

/** What was paid in the window, and to whom. */
export interface Market {
  /** Counted payments of the window by listing id; one to a shared payout is listed with each listing. */
  payments: ReadonlyMap<string, readonly Settlement[]>
  /** Those before the window: they say from whom a wallet bought first, and count for nothing. */
  earlier?: ReadonlyMap<string, readonly Settlement[]>
  /** Operator by listing id; payments to listings that are not in it are left out. */
  operatorOf: ReadonlyMap<string, string>
  /** Operators known to be independent of each other and of everybody here. */
  seeds: ReadonlySet<string>
  /** Operators that sell what is as good as money: their buyers have given nothing away. */
  cashLike: ReadonlySet<string>
}

/** What one wallet bought from one operator. */
export interface Purchase {
  /** A number that stands for the operator, as numbers stand for listings. */
  operator: number
  isSeed: boolean
  isCashLike: boolean
  /** Millionths of a dollar. */
  paid: number
  /** When it first paid this operator, as far back as is known; milliseconds. */
  since: number
  listings: { listing: number; paid: number }[]
}

const MICRO = 1_000_000

export type Purchases = ReturnType<typeof readPurchases>

/** The wallets of a market, by number: a month may hold a million payments, so none is an object here. */
export function readPurchases(market: Market) {
  const { payments, earlier = new Map(), operatorOf, seeds, cashLike } = market
  const [wallets, listings, operators] = [createNames(), createNames(), createNames()]
  const rows = createRows(countOf(payments) + countOf(earlier))
  const isFirst = createOnce(findRepeated(operatorOf.values()))
  const kindOf = (settlement: Settlement, operator: string, isEarlier: boolean): Kind => {
    if (isEarlier) return 'earlier'
    return isFirst(settlement, operator) ? 'new' : 'again'
  }
  const sellers: number[] = []
  // Earlier ones come last, so that a wallet's rows of the window stand before them.
  for (const [paid, isEarlier] of [
    [payments, false],
    [earlier, true],
  ] as const)
    for (const id of [...paid.keys()].sort()) {
      const operator = operatorOf.get(id)
      if (operator === undefined) continue
      const listing = listings.numberOf(id)
      sellers[listing] = operators.numberOf(operator)
      for (const settlement of paid.get(id) ?? []) {
        const kind = kindOf(settlement, operator, isEarlier)
        rows.add(wallets.numberOf(normalizeWallet(settlement.payer)), listing, settlement, kind)
      }
    }
  const inOrder = rows.sortByWallet(wallets.names.length)
  const nameOf = ({ operator }: Purchase) => operators.names[operator] ?? ''
  const begin = (operator: number, since: number): Purchase => {
    const name = operators.names[operator] ?? ''
    const known = { isSeed: seeds.has(name), isCashLike: cashLike.has(name) }
    return { operator, ...known, paid: 0, since, listings: [] }
  }
  return {
    wallets: wallets.names,
    listings: listings.names,
    operators: operators.names.length,
    /** What a wallet bought, from whom it bought first; nothing where one operator sold it all. */
    of(wallet: number): Purchase[] {
      const found = new Map<number, Purchase>()
      for (const row of inOrder(wallet)) {
        const { listing, micros, at, kind } = rows.read(row)
        const operator = sellers[listing] ?? 0
        const own = found.get(operator) ?? (kind === 'earlier' ? null : begin(operator, at))
        if (own === null) continue
        found.set(operator, own)
        own.since = Math.min(own.since, at)
        if (kind === 'new') own.paid += micros
        if (kind !== 'earlier') addTo(own.listings, listing, micros)
      }
      // Who bought from one operator alone is vouched for by nobody, and vouches for nobody.
      if (found.size < 2) return []
      return [...found.values()].sort(
        (a, b) => a.since - b.since || b.paid - a.paid || (nameOf(a) < nameOf(b) ? -1 : 1),
      )
    },
  }
}

/** Rows of one listing stand together. */
function addTo(bought: Purchase['listings'], listing: number, paid: number): void {
  const last = bought.at(-1)
  if (last?.listing === listing) last.paid += paid
  else bought.push({ listing, paid })
}

function createNames() {
  const numbers = new Map<string, number>()
  const names: string[] = []
  return {
    names,
    numberOf(name: string): number {
      const known = numbers.get(name)
      if (known !== undefined) return known
      numbers.set(name, names.length)
      return names.push(name) - 1
    },
  }
}

/** A payment listed with several listings of one operator is new once. */
const KINDS = ['new', 'again', 'earlier'] as const
type Kind = (typeof KINDS)[number]

function countOf(payments: ReadonlyMap<string, readonly Settlement[]>): number {
  let count = 0
  for (const { length } of payments.values()) count += length
  return count
}

/** One row a payment and listing, in columns. */
function createRows(size: number) {
  const [wallets, listings] = [new Int32Array(size), new Int32Array(size)]
  const [micros, times] = [new Float64Array(size), new Float64Array(size)]
  const kinds = new Uint8Array(size)
  let made = 0
  return {
    add(wallet: number, listing: number, { usd, at }: Settlement, kind: Kind): void {
      wallets[made] = wallet
      listings[made] = listing
      micros[made] = Math.round(usd * MICRO)
      times[made] = at
      kinds[made++] = KINDS.indexOf(kind)
    },
    read: (row: number) => ({
      listing: listings[row] ?? 0,
      micros: micros[row] ?? 0,
      at: times[row] ?? 0,
      kind: KINDS[kinds[row] ?? 0] ?? 'new',
    }),
    /** @returns the rows of a wallet */
    sortByWallet(count: number): (wallet: number) => Int32Array {
      const starts = new Int32Array(count + 1)
      for (let row = 0; row < made; row++) {
        const wallet = wallets[row] ?? 0
        starts[wallet] = (starts[wallet] ?? 0) + 1
      }
      for (let n = 1; n <= count; n++) starts[n] = (starts[n] ?? 0) + (starts[n - 1] ?? 0)
      const order = new Int32Array(made)
      // From the last row, so that what was the end of a wallet's rows becomes their start.
      for (let row = made - 1; row >= 0; row--) {
        const wallet = wallets[row] ?? 0
        const place = (starts[wallet] ?? 0) - 1
        starts[wallet] = place
        order[place] = row
      }
      return (wallet) => order.subarray(starts[wallet], starts[wallet + 1])
    },
  }
}

/** A payment listed with several listings of one operator was made once. */
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
 * Wallets that bought from two operators or more. Where money of others is short, those come first who
 * gave most to sellers that seem real: else a rival would push a seller's buyers out with many wallets
 * that gave next to nothing. How much else they bought does not matter: a rival could give them that.
 */
export function byGenerosity({ wallets, operators, of }: Purchases): {
  buying: number[]
  /** Of them, by operator. */
  buyers: Int32Array
} {
  const backing = new Float64Array(operators)
  const buyers = new Int32Array(operators)
  const buying = [...wallets.keys()].filter((wallet) => {
    const bought = of(wallet)
    const toSeeds = sumOf(bought.filter(({ isSeed, isCashLike }) => isSeed && !isCashLike))
    for (const { operator, paid } of bought) {
      backing[operator] = (backing[operator] ?? 0) + Math.min(paid, toSeeds)
      buyers[operator] = (buyers[operator] ?? 0) + 1
    }
    return bought.length > 0
  })
  const worth = new Float64Array(wallets.length)
  for (const wallet of buying)
    worth[wallet] = sumOf(
      of(wallet)
        .filter(({ isCashLike }) => !isCashLike)
        .map(({ operator, paid }) => ({ paid: Math.min(paid, backing[operator] ?? 0) })),
    )
  const [worthOf, nameOf] = [(n: number) => worth[n] ?? 0, (n: number) => wallets[n] ?? '']
  buying.sort((a, b) => worthOf(b) - worthOf(a) || (nameOf(a) < nameOf(b) ? -1 : 1))
  return { buying, buyers }
}

function sumOf(bought: readonly Pick<Purchase, 'paid'>[]): number {
  return bought.reduce((sum, { paid }) => sum + paid, 0)
}
