import type { Settlement, Transfer } from '../settlement/settlement.ts'
import { findWash, indexTransfers, normalizeWallet, type WashFlagId } from '../wash/wash.ts'
import {
  createPayeeLookup,
  type LedgerPayee,
  type LedgerPayment,
  type Verdict,
  windowOf,
} from './ledger-facts.ts'

const MICRO = 1_000_000

/** A payment as a chain shows it, before any verdict. */
export interface SeenPayment extends Omit<Settlement, 'listing_id'> {
  asset: string
  /** The one that the relay's notes name, where they do. */
  listing_id: string | null
  /** The source of its payer's money has not been traced yet. */
  is_untraced: boolean
}

/** A row of the ledger, with the additional facts for the exclusions. */
export interface MeteredPayment extends LedgerPayment {
  block: number | null
}

/** A payment with its listings, and whether anything but the exclusions keeps it from counting. */
export function toMeteredPayment(
  seen: SeenPayment,
  payeeOf: ReturnType<typeof createPayeeLookup>,
): MeteredPayment {
  const { network, transaction, log, at, asset, amount, scheme, listing_id, block } = seen
  const payee = normalizeWallet(seen.payee)
  const owned = payeeOf({ network, payee })
  const listings = owned?.listings ?? []
  return {
    network,
    transaction,
    log,
    at,
    asset,
    amount,
    usd_micro: Math.round(seen.usd * MICRO),
    payer: normalizeWallet(seen.payer),
    payee,
    scheme,
    listings: listing_id !== null && listings.includes(listing_id) ? [listing_id] : listings,
    verdict: findSkipReason(seen, owned),
    block,
  }
}

function findSkipReason({ amount, is_untraced }: SeenPayment, payee?: LedgerPayee): Verdict {
  if (/^0+$/.test(amount)) return 'nothing_paid'
  if (payee === undefined) return 'payee_not_owned'
  return is_untraced ? 'payer_untraced' : 'counted'
}

export interface Surroundings {
  /** End of the window, milliseconds. */
  asOf: number
  payees: readonly LedgerPayee[]
  transfers: readonly Transfer[]
  /** Whether a wallet (as `normalizeWallet` writes it) was seen to pay a payee that is not read. */
  hasPaidElsewhere: (wallet: string) => boolean
}

/**
 * The rows of the ledger: of those that would count, the exclusions leave some out. All of a
 * seller's payments are judged together: last month's refund is not what funded a returning buyer.
 */
export function judgePayments(
  payments: readonly MeteredPayment[],
  { asOf, payees, transfers, hasPaidElsewhere }: Surroundings,
): readonly MeteredPayment[] {
  const payeeOf = createPayeeLookup(payees)
  const ownerOf = (payment: LedgerPayment) => payeeOf(payment)?.owner ?? ''
  const known = indexTransfers(transfers)
  const inWindow = (at: number) => windowOf(at, asOf)
  const counted = payments.filter(({ verdict }) => verdict === 'counted')
  // Only needed where there is a crowd within minutes.
  let soleOwners: Map<string, string | null> | undefined
  const soleOwnerOf = (wallet: string) => {
    soleOwners ??= findSoleOwners(counted, ownerOf)
    return soleOwners.get(wallet)
  }
  const payeesOf = Map.groupBy(payees, ({ owner }) => owner)
  const flags = new Map<MeteredPayment, WashFlagId>()
  for (const [owner, own] of Map.groupBy(counted, ownerOf)) {
    const wallets = (payeesOf.get(owner) ?? []).map(({ payee }) => toWallet(payee))
    const hasPaidOthers = (wallet: string) =>
      hasPaidElsewhere(wallet) || soleOwnerOf(wallet) !== owner
    const knowledge = { wallets, transfers: known, hasPaidOthers, windowOf: inWindow }
    for (const [payment, flag] of findWash(own, knowledge)) flags.set(payment, flag)
  }
  if (flags.size === 0) return payments
  return payments.map((payment) => {
    const verdict = flags.get(payment)
    return verdict === undefined ? payment : { ...payment, verdict }
  })
}

/** The owner that a wallet paid; null for more than one. */
function findSoleOwners(
  payments: readonly LedgerPayment[],
  ownerOf: (payment: LedgerPayment) => string,
): Map<string, string | null> {
  const owners = new Map<string, string | null>()
  for (const payment of payments) {
    const owner = ownerOf(payment)
    const known = owners.get(payment.payer)
    if (known === undefined) owners.set(payment.payer, owner)
    else if (known !== null && known !== owner) owners.set(payment.payer, null)
  }
  return owners
}

/** @example toWallet('eip155:8453:0xAbc') → '0xAbc' */
function toWallet(payout: string): string {
  return payout.split(':')[2] ?? payout
}
