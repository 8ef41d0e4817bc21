import * as v from 'valibot'
import { NetworkSchema, type Pricing } from '../../../src/domain/listing/pricing.ts'

/**
 * Decimals of the dollar assets that paid listings name. An asset that isn't here has no price in
 * dollars that can be computed: 18 digits read as 6 would ask for ten billion.
 */
const DECIMALS: Readonly<Record<string, number>> = {
  // USDC
  'eip155:1:0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48': 6,
  'eip155:10:0x0b2c639c533813f4aa9d7837caf62653d097ff85': 6,
  'eip155:137:0x3c499c542cef5e3811e1192ce70d8cc03d5c3359': 6,
  'eip155:8453:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913': 6,
  'eip155:42161:0xaf88d065e77c8cc2239327c5edb3a432268e5831': 6,
  'eip155:43114:0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e': 6,
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v': 6,
  // BNB Chain: bridged USDC, USDT, USD1
  'eip155:56:0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d': 18,
  'eip155:56:0x55d398326f99059ff775485246999027b3197955': 18,
  'eip155:56:0x8d0d000ee44948fc98c9b98a4fa4921476f08b0d': 18,
}

const TEST_NETWORKS = [
  'eip155:84532',
  'eip155:11155111',
  'eip155:80002',
  'eip155:421614',
  'eip155:43113',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
]

export const AcceptSchema = v.object({
  network: v.string(),
  asset: v.string(),
  scheme: v.optional(v.string(), 'exact'),
  amount: v.optional(v.nullable(v.string())),
  maxAmountRequired: v.optional(v.nullable(v.string())),
})
export type Accept = v.InferOutput<typeof AcceptSchema>

export function isTestNetwork(network: string): boolean {
  return TEST_NETWORKS.includes(network)
}

/** A main network of a form the specification knows. */
export function isListedNetwork(network: string): boolean {
  return v.is(NetworkSchema, network) && !isTestNetwork(network)
}

/**
 * @returns the price of one payment in USD, or null where it is none: a ceiling (`upto`), a test
 *   network, an asset of unknown decimals, an amount that is not an integer of atomic units.
 */
export function priceOfAccept(accept: Accept): number | null {
  const { network, asset, scheme } = accept
  const amount = accept.amount ?? accept.maxAmountRequired ?? ''
  const decimals =
    DECIMALS[`${network}:${network.startsWith('eip155:') ? asset.toLowerCase() : asset}`]
  if (scheme !== 'exact' || !isListedNetwork(network) || decimals === undefined) return null
  return /^\d{1,40}$/.test(amount) ? toUsd(BigInt(amount), decimals) : null
}

/** @returns null when no payment of the list has a price. */
export function pricingOfAccepts(accepts: readonly Accept[]): Pricing | null {
  const priced = accepts.flatMap((accept) => {
    const usd = priceOfAccept(accept)
    return usd === null ? [] : [{ usd, network: accept.network }]
  })
  if (priced.length === 0) return null
  const prices = priced.map(({ usd }) => usd)
  return {
    model: 'per_call',
    min_usd: Math.min(...prices),
    max_usd: Math.max(...prices),
    rails: ['x402'],
    networks: [...new Set(priced.map(({ network }) => network))],
  }
}

/** Through BigInt and text: 0.1 + 0.2 has no place in a price. */
function toUsd(atomic: bigint, decimals: number): number {
  const digits = atomic.toString().padStart(decimals + 1, '0')
  return Number(`${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`)
}
