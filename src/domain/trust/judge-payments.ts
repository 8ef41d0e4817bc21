import { normalizePayout } from '../listing/caip-account.ts'
import type { Settlement, Transfer } from '../settlement/settlement.ts'
import { indexTransfers } from '../wash/chain-order.ts'
import { findWash } from '../wash/wash.ts'
import { normalizeWallet } from '../wash/wash-rules.ts'
import type { LedgerPayee, LedgerPayment, Verdict } from './ledger-payment.ts'
import { windowOf } from './score-listings.ts'

const MICRO = 1_000_000

/** A payment as a chain shows it, before anybody has judged it. */
export interface SeenPayment extends Omit<Settlement, 'listing_id'> {
  asset: string
  /** The one that the relay's notes name, where they do. */
  listing_id: string | null
  /** Nobody has looked yet where its payer had the money from. */
  is_untraced: boolean
}

export interface Surroundings {
  /** End of the window, milliseconds. Each thirty days before it are judged by themselves. */
  asOf: number
  payees: readonly LedgerPayee[]
  transfers: readonly Transfer[]
  /** Whether a wallet (as `normalizeWallet` writes it) was seen to pay a payee that is not read. */
  hasPaidElsewhere: (wallet: string) => boolean
}

/** The rows of the ledger: which payments count, and why the others do not. */
export function judgePayments(
  payments: readonly SeenPayment[],
  { asOf, payees, transfers, hasPaidElsewhere }: Surroundings,
): LedgerPayment[] {
  const payeeOf = new Map(payees.map((one) => [normalizePayout(one.payee), one]))
  const known = indexTransfers(transfers)
  const verdicts = new Map<SeenPayment, Verdict>()
  const judged = payments.filter((payment) => {
    const verdict = findHindrance(payment, payeeOf.get(toPayout(payment)))
    if (verdict !== null) verdicts.set(payment, verdict)
    return verdict === null
  })
  const paidTo = toPayees(judged)
  const ownerOf = (payment: SeenPayment) => payeeOf.get(toPayout(payment))?.owner ?? ''
  const payeesOf = Map.groupBy(payees, ({ owner }) => owner)
  for (const [owner, own] of Map.groupBy(judged, ownerOf)) {
    const wallets = (payeesOf.get(owner) ?? []).map(({ payee }) => toWallet(payee))
    const ours = new Set(wallets.map(normalizeWallet))
    const hasPaidOthers = (wallet: string) =>
      hasPaidElsewhere(wallet) || [...(paidTo.get(wallet) ?? [])].some((payee) => !ours.has(payee))
    for (const window of Map.groupBy(own, ({ at }) => windowOf(at, asOf)).values())
      for (const [payment, flag] of findWash(window, { wallets, transfers: known, hasPaidOthers }))
        verdicts.set(payment, flag)
  }
  return payments.map((payment) =>
    toRow(payment, payeeOf.get(toPayout(payment)), verdicts.get(payment)),
  )
}

function findHindrance(payment: SeenPayment, payee: LedgerPayee | undefined): Verdict | null {
  if (BigInt(payment.amount) === 0n) return 'nothing_paid'
  if (payee === undefined) return 'payee_not_owned'
  return payment.is_untraced ? 'payer_untraced' : null
}

function toRow(
  { transaction, log_index, usd, at, ...payment }: SeenPayment,
  payee: LedgerPayee | undefined,
  verdict: Verdict = 'counted',
): LedgerPayment {
  const { network, asset, amount, payer, scheme, listing_id } = payment
  const listings = payee?.listings ?? []
  const isNamed = listing_id !== null && listings.includes(listing_id)
  return {
    network,
    transaction,
    log: log_index,
    at: new Date(at).toISOString(),
    asset,
    amount,
    usd_micro: Math.round(usd * MICRO),
    payer: normalizeWallet(payer),
    payee: normalizeWallet(payment.payee),
    scheme,
    listings: isNamed ? [listing_id] : listings,
    verdict,
  }
}

/** Whom each payer paid, as `normalizeWallet` writes both. */
function toPayees(payments: readonly SeenPayment[]): Map<string, Set<string>> {
  const payees = new Map<string, Set<string>>()
  for (const { payer, payee } of payments) {
    const wallet = normalizeWallet(payer)
    payees.set(wallet, (payees.get(wallet) ?? new Set()).add(normalizeWallet(payee)))
  }
  return payees
}

function toPayout({ network, payee }: SeenPayment): string {
  return normalizePayout(`${network}:${payee}`)
}

/** @example toWallet('eip155:8453:0xAbc') → '0xAbc' */
function toWallet(payout: string): string {
  return payout.split(':')[2] ?? payout
}
