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

/** Names of chains by CAIP-2 id, for people. An id that is not here is shown as itself. */
const NETWORK_NAMES: Readonly<Record<string, string>> = {
  'eip155:1': 'Ethereum',
  'eip155:10': 'Optimism',
  'eip155:56': 'BNB Chain',
  'eip155:100': 'Gnosis',
  'eip155:130': 'Unichain',
  'eip155:137': 'Polygon',
  'eip155:143': 'Monad',
  'eip155:196': 'X Layer',
  'eip155:324': 'ZKsync Era',
  'eip155:480': 'World Chain',
  'eip155:999': 'HyperEVM',
  'eip155:1329': 'Sei',
  'eip155:2741': 'Abstract',
  'eip155:4217': 'Tempo',
  'eip155:4689': 'IoTeX',
  'eip155:8453': 'Base',
  'eip155:42161': 'Arbitrum One',
  'eip155:42431': 'Tempo Moderato testnet',
  'eip155:42220': 'Celo',
  'eip155:43113': 'Avalanche Fuji testnet',
  'eip155:43114': 'Avalanche',
  'eip155:59144': 'Linea',
  'eip155:80002': 'Polygon Amoy testnet',
  'eip155:84532': 'Base Sepolia testnet',
  'eip155:421614': 'Arbitrum Sepolia testnet',
  'eip155:11155111': 'Ethereum Sepolia testnet',
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': 'Solana',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': 'Solana devnet',
  'solana:4uhcVJyU9pJkvQyS88uRDiswHXSGkY3z': 'Solana testnet',
}

/** @example toNetworkName('eip155:8453') → 'Base' */
export function toNetworkName(id: string): string {
  return NETWORK_NAMES[id] ?? id
}

/** By each name people write, without spaces: `base`, `arbitrum`, `solana-devnet`. */
const NETWORK_IDS = new Map(
  Object.entries(NETWORK_NAMES).flatMap(([id, name]) => {
    const plain = name.toLowerCase().replace(' testnet', '')
    const short = plain.replace(/ (?:one|chain|era)$/, '')
    return [...new Set([plain.replaceAll(' ', '-'), plain.replaceAll(' ', ''), short])].map(
      (text) => [text, id] as const,
    )
  }),
)

export const NAMED_NETWORKS: readonly string[] = [...NETWORK_IDS.keys()]

/** @example toNetworkId('Base') → 'eip155:8453'; null for a name that nobody knows */
export function toNetworkId(name: string): string | null {
  return NETWORK_IDS.get(name.toLowerCase()) ?? null
}

/** @example chainOf('eip155:8453:0xab…') → 'eip155:8453' */
export function chainOf(payout: string): string {
  return payout.slice(0, payout.lastIndexOf(':'))
}

/** CAIP-10, where chain and address have the shape of one. */
export function toPayout(network: string | null, address: string): string | null {
  const payout = `${network}:${address}`
  return network !== null && v.is(PayoutSchema, payout) ? payout : null
}
