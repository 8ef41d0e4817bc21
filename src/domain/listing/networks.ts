import { textLike } from '../wire/shapes.ts'

/**
 * The named networks: filters, notes, facets, protocols, importers and pages use these tables. An
 * id that is in neither table is shown unchanged. Ids are CAIP-2: chain ids from
 * ethereum-lists/chains, and Solana's genesis hashes.
 */
const MAIN_NETWORKS: Readonly<Record<string, string>> = {
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
  'eip155:4663': 'Robinhood Chain',
  'eip155:4689': 'IoTeX',
  'eip155:5042': 'Arc',
  'eip155:8453': 'Base',
  'eip155:42161': 'Arbitrum One',
  'eip155:42220': 'Celo',
  'eip155:43114': 'Avalanche',
  'eip155:59144': 'Linea',
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': 'Solana',
}

/** Networks whose coins are worth nothing. */
const TEST_NETWORKS: Readonly<Record<string, string>> = {
  'eip155:42431': 'Tempo Moderato testnet',
  'eip155:43113': 'Avalanche Fuji testnet',
  'eip155:80002': 'Polygon Amoy testnet',
  'eip155:84532': 'Base Sepolia testnet',
  'eip155:421614': 'Arbitrum Sepolia testnet',
  'eip155:11155111': 'Ethereum Sepolia testnet',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': 'Solana devnet',
  'solana:4uhcVJyU9pJkvQyS88uRDiswHXSGkY3z': 'Solana testnet',
}

const TEST_WORDS = /\b(?:testnet|sepolia|devnet|fuji|amoy)\b/i

const NAMES = { ...MAIN_NETWORKS, ...TEST_NETWORKS }

/**
 * Ids by every text that means a network: names with spaces, with hyphens or in one word. Main networks come
 * first and keep their names: `solana` is not Solana's testnet.
 */
const IDS_BY_NAME = new Map<string, string>()
for (const [id, name] of Object.entries(NAMES))
  for (const plain of [name.toLowerCase(), toShort(name)])
    for (const text of [plain, plain.replaceAll(' ', '-'), plain.replaceAll(' ', '')])
      if (!IDS_BY_NAME.has(text)) IDS_BY_NAME.set(text, id)

/** @example toShort('Arbitrum One') → 'arbitrum' */
function toShort(name: string): string {
  return name.toLowerCase().replace(/ (?:one|chain|era|testnet)$/, '')
}

export const NETWORK_NAMES: readonly string[] = [...IDS_BY_NAME.keys()]

/** @example toNetworkName('eip155:8453') → 'Base'; an id that is not in the tables is returned as it is */
export function toNetworkName(text: string): string {
  return NAMES[toNetworkId(text) ?? ''] ?? text
}

/** A network's value in a search parameter. @example toNetworkWord('eip155:84532') → 'base-sepolia' */
export function toNetworkWord(text: string): string {
  const id = toNetworkId(text)
  if (id === null) return text
  const name = toNetworkName(id)
  const short = toShort(name)
  const word = IDS_BY_NAME.get(short) === id ? short : name.toLowerCase()
  return word.replaceAll(' ', '-')
}

/**
 * @example toNetworkId('Base') → 'eip155:8453', like 'eip155:8453' itself; null for text that is
 *   not in the tables
 */
export function toNetworkId(text: string): string | null {
  return Object.hasOwn(NAMES, text) ? text : (IDS_BY_NAME.get(text.toLowerCase()) ?? null)
}

/** Whether a network is a test network. For a network in no table, which an importer may find, its name decides. */
export function isTestNetwork(network: string): boolean {
  const id = toNetworkId(network)
  return id === null ? TEST_WORDS.test(network) : Object.hasOwn(TEST_NETWORKS, id)
}

const PAYOUT_PATTERN =
  /^(?:eip155:[1-9]\d{0,17}:0x[0-9a-fA-F]{40}|solana:[1-9A-HJ-NP-Za-km-z]{32,44}:[1-9A-HJ-NP-Za-km-z]{32,44})$/

export const PayoutSchema = textLike(
  PAYOUT_PATTERN,
  'expected a CAIP-10 address such as eip155:8453:0x followed by 40 hex digits',
)

/** Lower case for EVM addresses, where case is only a checksum; Solana addresses stay as they are. */
export function normalizePayout(payout: string): string {
  return payout.startsWith('eip155:') ? payout.toLowerCase() : payout
}

/** @example chainOf('eip155:8453:0xab…') → 'eip155:8453' */
export function chainOf(payout: string): string {
  return payout.slice(0, payout.lastIndexOf(':'))
}

/** A CAIP-10 address; null unless chain and address are well-formed. */
export function toPayout(network: string | null, address: string): string | null {
  const payout = `${network}:${address}`
  return network !== null && PAYOUT_PATTERN.test(payout) ? payout : null
}
