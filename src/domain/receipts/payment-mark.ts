import { normalizePayout } from '../listing/caip-account.ts'
import { readSignedPayment } from '../pins/signed-payment.ts'
import { readSolanaTransfer } from '../settlement/solana-transfer.ts'
import { tokenAccountOf } from '../settlement/token-account.ts'
import { toCaip2 } from '../settlement/usd-assets.ts'
import type { LedgerPayment } from '../trust/ledger-payment.ts'
import { normalizeWallet } from '../wash/wash-rules.ts'
import { memberOf } from '../wire/parse-json.ts'

/**
 * Who pays whom, as the payments of a request say it: what finds the payment among those that the meter
 * reads, where the seller's answer names no transaction, or another one's. Null where it cannot be read.
 */
export function toPaymentMark(payments: readonly object[]): string | null {
  for (const payment of payments) {
    const payload = memberOf(payment, 'payload')
    const payer = readPayer(payload)
    const payee = payer === null ? null : readSignedPayment(payment).at(-1)?.payee
    if (payer !== null && typeof payee === 'string') return toMark(payee, payer)
    const transfer = readSolanaTransfer(memberOf(payload, 'transaction'))
    const network = memberOf(memberOf(payment, 'accepted') ?? payment, 'network')
    if (transfer !== null)
      return toMark(`${toCaip2(String(network))}:${transfer.destination}`, transfer.authority)
  }
  return null
}

/**
 * The same of payments that the meter read. On Solana a client signs for the account of the payee's coins, and
 * what that is takes a while to find.
 */
export function createPaymentMarks(): (payment: LedgerPayment) => string {
  const accounts = new Map<string, string | null>()
  return ({ network, asset, payee, payer }) => {
    if (!network.startsWith('solana:')) return toMark(`${network}:${payee}`, payer)
    const key = `${payee} ${asset}`
    const account = accounts.get(key) ?? tokenAccountOf(payee, asset)
    accounts.set(key, account)
    return toMark(`${network}:${account}`, payer)
  }
}

function toMark(payee: string, payer: string): string {
  return `${normalizePayout(payee)} ${normalizeWallet(payer)}`
}

/** Of x402 by authorisation, Permit2 and channel; of MPP by authorisation. */
function readPayer(payload: unknown): string | null {
  const payer = [
    memberOf(memberOf(payload, 'authorization'), 'from'),
    memberOf(memberOf(payload, 'permit2Authorization'), 'from'),
    memberOf(memberOf(payload, 'channelConfig'), 'payer'),
    memberOf(payload, 'from'),
  ].find((each) => typeof each === 'string')
  return typeof payer === 'string' && /^[\w]{20,100}$/.test(payer) ? payer : null
}
