import { toNetworkId } from '../listing/pricing.ts'

/** One payment that the meter found on a chain: a payer's money received by a payout. */
export interface Settlement {
  network: string
  transaction: string
  /** Index of the transfer's log (EVM); 0 where a chain has none. */
  log: number
  /** Which listing was called, where a relayed call named it and the payee is that listing's; else ''. */
  listing_id: string
  payer: string
  payee: string
  /** US dollars. */
  usd: number
  /** Smallest units of the token, decimal text: equal amounts compare exactly. */
  amount: string
  /** Time of the block, milliseconds since the epoch. */
  at: number
  /** Height of the block; null where it was not recorded. */
  block: number | null
  /** How it was paid; null where it was not recorded. */
  scheme: CountedScheme | null
  /** Which authorisation its payer signed (EIP-3009), as `authorizationMarkOf` writes it. */
  authorization?: string | null
}

/** Any transfer of an allow-listed token between known wallets; only for wash rules. */
export interface Transfer {
  network: string
  transaction: string
  log: number
  from: string
  to: string
  amount: string
  at: number
  block: number | null
  /** Whether `from` is a contract: exchanges and pools pass on others' money. Null: not checked. */
  from_contract: boolean | null
}

/**
 * Every way a buyer pays that today's official packages or specifications know, and whether we
 * count it. A scheme is counted if the chain itself shows who consented to pay whom, and we tried
 * the forgeries and none was counted; until then it is here uncounted, with the reason.
 */
export interface Scheme {
  id: string
  /** The name in its packages; pages print it next to its payments. */
  name: string
  /** Counted where the payee is a listing's, proved or published. */
  counted: boolean
  /** Why it is safe to count, or why it is not counted. One or two sentences for people. */
  reason: string
}

export const SCHEMES = [
  counted(
    'eip3009',
    'x402 exact or MPP evm (EIP-3009)',
    'The coin itself writes that the buyer signed, and next to it the transfer. Nobody else can write either.',
  ),
  counted(
    'solana_exact',
    'x402 exact on Solana',
    'The buyer signs one transfer and somebody else pays the fee, so the buyer agreed to this transfer and did not send it.',
  ),
  counted(
    'permit2_exact',
    'x402 exact (Permit2)',
    'The call to the one known contract names the coin, the buyer and the seller, and the coin writes that transfer. A contract of a forger’s own, or a coin of his own, is neither.',
  ),
  counted(
    'permit2_upto',
    'x402 upto (Permit2)',
    'As exact by Permit2. The amount taken counts, not the amount allowed.',
  ),
  counted(
    'tempo_charge',
    'MPP charge on Tempo',
    'The coin writes a memo with the transfer, which names the seller’s host and the challenge, and the payer is the signer. Anybody can write a memo, but only with their own money, which the seller keeps. The coin there is bridged USD Coin.',
  ),
  uncounted(
    'channels',
    'x402 batch-settlement and auth-capture, MPP session on Tempo',
    'The money waits in a contract, and one claim there pays for many calls. We do not read these contracts.',
  ),
  uncounted(
    'solana_smart_wallet',
    'x402 exact from a Solana smart wallet',
    'The transfer happens inside another program, which decides whose consent it needs.',
  ),
  uncounted(
    'solana_upto',
    'x402 upto on Solana',
    'The payment comes out of a channel that we could not play on a chain of our own.',
  ),
  uncounted(
    'tempo_machine_token',
    'MPP charge on Tempo, in machine tokens or as a share',
    'The seller is paid by a swap contract, or by a transfer that carries no memo.',
  ),
  uncounted(
    'erc7710',
    'x402 exact by delegation (ERC-7710)',
    'Any contract can call itself the manager of a delegation.',
  ),
  uncounted(
    'swap',
    'x402 settlement by swap',
    'It is a draft, and its settling contract has no published address.',
  ),
  uncounted(
    'stripe',
    'MPP stripe',
    'A card leaves nothing on a chain. All there is to see is the seller’s word.',
  ),
  uncounted(
    'lightning',
    'MPP lightning and deferred payment',
    'No part of it is public on a chain.',
  ),
  uncounted('other_chains', 'x402 on Stellar and Algorand', 'We have no reader for these chains.'),
  uncounted(
    'bundled',
    'Permit2 payments inside a bundled transaction',
    'The call that names the buyer is hidden inside another one, where a contract could imitate it.',
  ),
] satisfies readonly Scheme[]

/** Schemes whose payments count, in the order in which they are listed. */
export type CountedScheme = Extract<(typeof SCHEMES)[number], { counted: true }>['id']
export const COUNTED_SCHEMES: readonly CountedScheme[] = SCHEMES.flatMap((scheme) =>
  scheme.counted ? [scheme.id] : [],
)

/** On each listing with the rail `mpp`: a part of its sales may be in none of its numbers. */
export const SESSIONS_NOT_COUNTED =
  'Payments by MPP sessions are not counted: their money waits in a contract that we do not read.'

export function nameOfScheme(id: CountedScheme): string {
  return SCHEMES.find((scheme) => scheme.id === id)?.name ?? id
}

function counted<const Id extends string>(id: Id, name: string, reason: string) {
  return { id, name, counted: true as const, reason }
}

function uncounted<const Id extends string>(id: Id, name: string, reason: string) {
  return { id, name, counted: false as const, reason }
}

/**
 * Tokens that count as US dollars, by chain: those their issuer redeems one for one, and those a
 * bridge redeems for such a token. Anybody can deploy a token named USDC; an allow list of
 * contracts is the only proof of what was paid.
 */
export interface UsdAsset {
  /** Contract (lower case) or mint. */
  address: string
  decimals: number
  /** What a payer signs for it, by EIP-712: no seller's word is taken for it. Null where nobody signs so. */
  domain: { name: string; version: string } | null
}

/** Coins redeemed by a bridge, not their issuer: each says why it counts, shown as bridged. */
export const BRIDGED_COINS = [
  {
    network: 'eip155:4217',
    name: 'USDC.e',
    address: '0x20c000000000000000000000b9537d11c60e8b50',
    counts: true,
    reason:
      'Tempo has no USD Coin of Circle’s own, and what buyers pay with there is this one. A bridge redeems it for USD Coin elsewhere.',
  },
] as const

/** Also every coin of Tempo's. */
const USDC_DECIMALS = 6

/** USD Coin, issued natively, on chains payments are seen on. */
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

/** Main networks on which a coin counts. */
export const COUNTED_NETWORKS = [
  ...Object.keys(USD_COIN),
  ...BRIDGED_COINS.map(({ network }) => network),
]

/** Coins of test networks cost nothing: they count only under the trial setting. */
const TEST_COIN: Record<string, string> = {
  'eip155:43113': '0x5425890298aed601595a70ab815c96711a31bc65',
  // pathUSD, which nobody redeems.
  'eip155:42431': '0x20c0000000000000000000000000000000000000',
  'eip155:84532': '0x036cbd53842c5426634e7929541ec2318f3dcf7e',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
}

/** The coin's own name where it is not USD Coin. */
const OTHER_NAMES: Record<string, string> = {
  'eip155:42220': 'USDC',
  'eip155:84532': 'USDC',
}
/** Chains whose coin takes no EIP-3009 signature. */
const UNSIGNED: Record<string, true> = { 'eip155:42431': true }

/** The chain of MPP's method `tempo` where a challenge names none. */
export const TEMPO_CHAIN_ID = 4217

/** @returns null where no token of the chain counts. */
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

/** Atomic units of a token whose dollars are known; null for every other. */
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
