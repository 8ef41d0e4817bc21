import { toNetworkId } from '../listing/networks.ts'

/**
 * Tokens that are treated as US dollars, by chain: tokens that their issuer redeems one for one,
 * and tokens that a bridge redeems for such a token. Anybody can deploy a token named USDC; an
 * allow list of contracts is the only proof of what was paid.
 */
export interface UsdAsset {
  /** Contract (lower case) or mint. */
  address: string
  decimals: number
  /** The EIP-712 domain that a payer signs, never taken from a seller. Null if the coin takes no such signature. */
  domain: { name: string; version: string } | null
}

/** Coins that a bridge redeems, not their issuer: each row gives a reason, and pages show the coin as bridged. */
export const BRIDGED_COINS = [
  {
    network: 'eip155:4217',
    name: 'USDC.e',
    address: '0x20c000000000000000000000b9537d11c60e8b50',
    counts: true,
    reason:
      'Circle issues no USD Coin on Tempo, and buyers pay with this coin there. A bridge redeems it for USD Coin elsewhere.',
  },
] as const

/** Every coin on Tempo has this many decimals too. */
const USDC_DECIMALS = 6

/** Contracts of natively issued USD Coin, by chain, for the chains on which we see payments. */
const USD_COIN: Record<string, string> = {
  'eip155:1': '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
  'eip155:10': '0x0b2c639c533813f4aa9d7837caf62653d097ff85',
  'eip155:137': '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359',
  'eip155:8453': '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  'eip155:42161': '0xaf88d065e77c8cc2239327c5edb3a432268e5831',
  'eip155:42220': '0xceba9300f2b948710d2653dd7b07f33a8b32118c',
  'eip155:43114': '0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e',
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
}

/** Main networks on which a coin is accepted. */
export const COUNTED_NETWORKS = [
  ...Object.keys(USD_COIN),
  ...BRIDGED_COINS.map(({ network }) => network),
]

/** Test networks' coins cost nothing: they are accepted only if the trial setting is on. */
const TEST_COIN: Record<string, string> = {
  'eip155:43113': '0x5425890298aed601595a70ab815c96711a31bc65',
  // pathUSD, which nobody redeems for dollars.
  'eip155:42431': '0x20c0000000000000000000000000000000000000',
  'eip155:84532': '0x036cbd53842c5426634e7929541ec2318f3dcf7e',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
}

/** The coin's own name, if it is not USD Coin. */
const OTHER_NAMES: Record<string, string> = {
  'eip155:42220': 'USDC',
  'eip155:84532': 'USDC',
}

/** Chains whose coin takes no EIP-3009 signature. */
const UNSIGNED: Record<string, true> = { 'eip155:42431': true }

/** The chain of MPP's method `tempo` if a challenge names none. */
export const TEMPO_CHAIN_ID = 4217

/** @returns null if none of the chain's tokens is accepted */
export function usdAssetOf(network: string, rules: { allowTestCoins: boolean }): UsdAsset | null {
  const bridged = BRIDGED_COINS.find((coin) => coin.network === network)
  const address =
    USD_COIN[network] ?? bridged?.address ?? (rules.allowTestCoins ? TEST_COIN[network] : undefined)
  if (address === undefined) return null
  const isSigned = network.startsWith('eip155:') && bridged === undefined && !(network in UNSIGNED)
  const domain = isSigned ? { name: OTHER_NAMES[network] ?? 'USD Coin', version: '2' } : null
  return { address, decimals: USDC_DECIMALS, domain }
}

/**
 * Protocol v1 names its networks, v2 uses CAIP-2.
 * @example toCaip2('base-sepolia') → 'eip155:84532'; toCaip2('eip155:1') → 'eip155:1'
 */
export function toCaip2(network: string): string | null {
  if (/^(?:eip155:[1-9]\d{0,17}|solana:[1-9A-HJ-NP-Za-km-z]{32,44})$/.test(network)) return network
  return toNetworkId(network)
}

/** US dollars for a token's atomic units; null for a token whose value is not known. */
export function toUsd(
  network: string | null,
  asset: string,
  amount: string,
  rules = { allowTestCoins: true },
): number | null {
  const known = network === null ? null : usdAssetOf(network, rules)
  if (known === null) return null
  const isSame = known.address === asset || known.address === asset.toLowerCase()
  return isSame ? Number(amount) / 10 ** known.decimals : null
}
