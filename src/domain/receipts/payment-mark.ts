import { normalizePayout } from '../listing/caip-account.ts'
import { readSignedPayment } from '../pins/signed-payment.ts'
import { parseBase64Json } from '../relay/base64-json.ts'
import { paymentsIn, type RawHeaders } from '../relay/relayed-headers.ts'
import type { LedgerPayment } from '../trust/ledger-payment.ts'
import { normalizeWallet } from '../wash/wash-rules.ts'
import { isJsonObject, memberOf } from '../wire/parse-json.ts'

/**
 * Who pays whom, as the payment of a request says it: what finds the payment among those that the meter
 * reads, where the seller's answer names no transaction, or another one's. Null where it cannot be read.
 */
export function toPaymentMark(request: RawHeaders): string | null {
  for (const text of paymentsIn(request)) {
    const payment = parseBase64Json(text)
    const payer = isJsonObject(payment) ? readPayer(payment.payload) : null
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
