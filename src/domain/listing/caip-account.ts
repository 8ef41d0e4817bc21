import * as v from 'valibot'
import { textLike } from '../wire/shapes.ts'

const PAYOUT_PATTERN =
  /^(?:eip155:[1-9]\d{0,17}:0x[0-9a-fA-F]{40}|solana:[1-9A-HJ-NP-Za-km-z]{32,44}:[1-9A-HJ-NP-Za-km-z]{32,44})$/

export const PayoutSchema = textLike(
  PAYOUT_PATTERN,
  'expected a CAIP-10 address such as eip155:8453:0x followed by 40 hex digits',
)

/**
 * EVM addresses compare without case (the case is only a checksum); Solana's compare as they are.
 */
export function normalizePayout(payout: string): string {
  return payout.startsWith('eip155:') ? payout.toLowerCase() : payout
}

/** @example chainOf('eip155:8453:0xab…') → 'eip155:8453' */
export function chainOf(payout: string): string {
  return payout.slice(0, payout.lastIndexOf(':'))
}

/** CAIP-10, with a well-formed chain and address. */
export function toPayout(network: string | null, address: string): string | null {
  const payout = `${network}:${address}`
  return network !== null && v.is(PayoutSchema, payout) ? payout : null
}
