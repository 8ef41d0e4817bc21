/** A chain that payments are made on. */
interface Network {
  /** CAIP-2. */
  id: string
  /** For people. */
  name: string
  /** What people write for it, where that is shorter. */
  short?: string
  /** Its coins cost nothing. */
  isTest?: true
}

/**
 * The networks that have a name here: filters, notes, facets, doors, importers and pages read this table.
 * A short name is the main network's; a test network never takes it. An id that is not here is shown
 * as it is. Ids: CAIP-2 over the chain ids of ethereum-lists/chains and the genesis hashes of Solana.
 */
const NETWORKS: readonly Network[] = [
  { id: 'eip155:1', name: 'Ethereum' },
  { id: 'eip155:10', name: 'Optimism' },
  { id: 'eip155:56', name: 'BNB Chain', short: 'BNB' },
  { id: 'eip155:100', name: 'Gnosis' },
  { id: 'eip155:130', name: 'Unichain' },
  { id: 'eip155:137', name: 'Polygon' },
  { id: 'eip155:143', name: 'Monad' },
  { id: 'eip155:196', name: 'X Layer' },
  { id: 'eip155:324', name: 'ZKsync Era', short: 'ZKsync' },
  { id: 'eip155:480', name: 'World Chain', short: 'World' },
  { id: 'eip155:999', name: 'HyperEVM' },
  { id: 'eip155:1329', name: 'Sei' },
  { id: 'eip155:2741', name: 'Abstract' },
  { id: 'eip155:4217', name: 'Tempo' },
  { id: 'eip155:4663', name: 'Robinhood Chain', short: 'Robinhood' },
  { id: 'eip155:4689', name: 'IoTeX' },
  { id: 'eip155:5042', name: 'Arc' },
  { id: 'eip155:8453', name: 'Base' },
  { id: 'eip155:42161', name: 'Arbitrum One', short: 'Arbitrum' },
  { id: 'eip155:42220', name: 'Celo' },
  { id: 'eip155:43114', name: 'Avalanche' },
  { id: 'eip155:59144', name: 'Linea' },
  { id: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', name: 'Solana' },
  { id: 'eip155:42431', name: 'Tempo Moderato testnet', short: 'Tempo Moderato', isTest: true },
  { id: 'eip155:43113', name: 'Avalanche Fuji testnet', short: 'Avalanche Fuji', isTest: true },
  { id: 'eip155:80002', name: 'Polygon Amoy testnet', short: 'Polygon Amoy', isTest: true },
  { id: 'eip155:84532', name: 'Base Sepolia testnet', short: 'Base Sepolia', isTest: true },
  {
    id: 'eip155:421614',
    name: 'Arbitrum Sepolia testnet',
    short: 'Arbitrum Sepolia',
    isTest: true,
  },
  {
    id: 'eip155:11155111',
    name: 'Ethereum Sepolia testnet',
    short: 'Ethereum Sepolia',
    isTest: true,
  },
  { id: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', name: 'Solana devnet', isTest: true },
  { id: 'solana:4uhcVJyU9pJkvQyS88uRDiswHXSGkY3z', name: 'Solana testnet', isTest: true },
]

const TEST_WORDS = /\b(?:testnet|sepolia|devnet|fuji|amoy)\b/i

const BY_ID = new Map(NETWORKS.map((network) => [network.id, network]))

/** By every text that means a network: names with blanks, hyphens or neither, and the id itself. */
const IDS_BY_NAME = new Map(
  NETWORKS.flatMap(({ id, name, short = name }) =>
    [...spellingsOf(name), ...spellingsOf(short)].map((text) => [text, id] as const),
  ),
)

function spellingsOf(name: string): string[] {
  const plain = name.toLowerCase()
  return [plain, plain.replaceAll(' ', '-'), plain.replaceAll(' ', '')]
}

/** What people may write for a network. */
export const NETWORK_NAMES: readonly string[] = [...IDS_BY_NAME.keys()]

/** @example toNetworkName('eip155:8453') → 'Base'; what is not in the table is its own name */
export function toNetworkName(text: string): string {
  return findNetwork(text)?.name ?? text
}

/** How a parameter says it. @example toNetworkWord('eip155:84532') → 'base-sepolia' */
export function toNetworkWord(text: string): string {
  const known = findNetwork(text)
  return known === undefined ? text : (known.short ?? known.name).toLowerCase().replaceAll(' ', '-')
}

/** @example toNetworkId('Base') → 'eip155:8453', as for 'eip155:8453'; null for what is not in the table */
export function toNetworkId(text: string): string | null {
  return BY_ID.get(text)?.id ?? IDS_BY_NAME.get(text.toLowerCase()) ?? null
}

/** By the table; what is not in it is judged by its name, as importers meet it. */
export function isTestNetwork(network: string): boolean {
  const known = findNetwork(network)
  return known === undefined ? TEST_WORDS.test(network) : known.isTest === true
}

function findNetwork(text: string): Network | undefined {
  return BY_ID.get(toNetworkId(text) ?? '')
}
