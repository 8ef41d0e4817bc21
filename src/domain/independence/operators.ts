import type { Settlement, Transfer } from '../settlement/settlement.ts'
import { normalizeWallet } from '../wash/wash-rules.ts'

/**
 * Who is whom. Listings that share a payout, a domain or the wallet that first funded their payouts
 * are one operator: what its buyers spend there was given away to nobody.
 *
 * Known limit: an operator that takes another domain, another payout and money from elsewhere is
 * another one here. What it gains by that is bounded by what strangers really paid it.
 */
export interface OperatorFacts {
  id: string
  /** The domain somebody registered, or a tenant's own host. */
  owner: string
  /** CAIP-10, those that count for the listing: naming a stranger's payout ties nobody to it. */
  payouts: readonly string[]
}

/** The first money a wallet is known to have got, before anybody paid it. */
export interface Funding {
  wallet: string
  funder: string
}

/** A funder of more wallets than this is an exchange or a faucet: it ties nobody together. */
export const MAX_FUNDED = 10

/** @returns the operator of each listing, by its id. Two listings of one operator have the same. */
export function groupOperators(
  listings: readonly OperatorFacts[],
  fundings: readonly Funding[],
  seeds: ReadonlySet<string>,
): Map<string, string> {
  const groups = createGroups()
  const funderOf = readFunders(fundings)
  for (const { owner, payouts } of listings) {
    const domain = `domain ${owner}`
    for (const wallet of payouts.map(toWallet)) {
      groups.join(domain, `wallet ${wallet}`)
      const funder = funderOf.get(wallet)
      // Sending money to a seed must not make it one's own.
      if (funder !== undefined && !seeds.has(owner)) groups.join(domain, `wallet ${funder}`)
    }
  }
  return new Map(listings.map(({ id, owner }) => [id, groups.find(`domain ${owner}`)]))
}

/**
 * Who first sent money to a wallet that was paid later. Only what came before its first payment
 * ties: anybody can send money to a wallet that is known already.
 */
export function findFundings(
  settlements: readonly Settlement[],
  transfers: readonly Transfer[],
): Funding[] {
  const firstPaid = new Map<string, number>()
  for (const { payee, at } of settlements) {
    const wallet = normalizeWallet(payee)
    firstPaid.set(wallet, Math.min(firstPaid.get(wallet) ?? at, at))
  }
  const first = new Map<string, Transfer>()
  for (const transfer of transfers) {
    const wallet = normalizeWallet(transfer.to)
    // Exchanges and pools pass on everybody's money.
    if (transfer.from_contract === true) continue
    if (transfer.at >= (firstPaid.get(wallet) ?? 0)) continue
    const known = first.get(wallet)
    if (known === undefined || isBefore(transfer, known)) first.set(wallet, transfer)
  }
  return [...first].map(([wallet, { from }]) => ({ wallet, funder: normalizeWallet(from) }))
}

/** A fixed order for equal times. */
function isBefore(one: Transfer, other: Transfer): boolean {
  if (one.at !== other.at) return one.at < other.at
  return one.transaction === other.transaction
    ? one.log_index < other.log_index
    : one.transaction < other.transaction
}

/** @example toWallet('eip155:8453:0xAbc') → '0xabc' */
export function toWallet(payout: string): string {
  return normalizeWallet(payout.split(':')[2] ?? payout)
}

function readFunders(fundings: readonly Funding[]): Map<string, string> {
  const funded = Map.groupBy(fundings, ({ funder }) => normalizeWallet(funder))
  return new Map(
    [...funded].flatMap(([funder, own]) =>
      own.length > MAX_FUNDED ? [] : own.map(({ wallet }) => [normalizeWallet(wallet), funder]),
    ),
  )
}

/** Disjoint sets of names; a set is called by the first of its names in the alphabet. */
function createGroups() {
  const parents = new Map<string, string>()
  const find = (name: string): string => {
    let root = name
    for (let up = parents.get(root); up !== undefined; up = parents.get(root)) root = up
    // Later look-ups take the short way.
    for (let at = name; at !== root; ) {
      const up = parents.get(at) ?? root
      parents.set(at, root)
      at = up
    }
    return root
  }
  const join = (one: string, other: string) => {
    const [first, second] = [find(one), find(other)].sort()
    if (first !== undefined && second !== undefined && first !== second) parents.set(second, first)
  }
  return { find, join }
}
