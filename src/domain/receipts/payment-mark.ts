import { normalizePayout } from '../listing/caip-account.ts'
import { readSignedPayment } from '../pins/signed-payment.ts'
import type { LedgerPayment } from '../trust/ledger-payment.ts'
import { normalizeWallet } from '../wash/wash-rules.ts'
import { memberOf } from '../wire/parse-json.ts'

/**
 * Who pays whom, as the payments of a request say it: what finds the payment among those that the meter
 * reads, where the seller's answer names no transaction, or another one's. Null where it cannot be read.
 */
export function toPaymentMark(payments: readonly object[]): string | null {
  for (const payment of payments) {
    const payer = readPayer(memberOf(payment, 'payload'))
    const payee = readSignedPayment(payment).at(-1)?.payee
    if (payer !== null && payee !== null && payee !== undefined) return toMark(payee, payer)
  }
  return null
}

/** The same of a payment that the meter read. */
export function markOf({ network, payee, payer }: LedgerPayment): string {
  return toMark(`${network}:${payee}`, payer)
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
