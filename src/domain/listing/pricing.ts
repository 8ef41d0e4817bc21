import * as v from 'valibot'
import { textLike } from '../wire/shapes.ts'
import { type Cost, RAILS } from '../wire/vocabulary.ts'

/** CAIP-2 ids of the two chain families the specification names. */
const NETWORK_PATTERN = /^(?:eip155:[1-9]\d{0,17}|solana:[1-9A-HJ-NP-Za-km-z]{32,44})$/

/** Above this a price is a ceiling or a decoy, not what one call costs (USD). */
const MAX_PRICE_USD = 100_000

export const NetworkSchema = textLike(
  NETWORK_PATTERN,
  'expected eip155:<chain id> or solana:<chain reference>, such as eip155:8453',
)

export const PriceSchema = v.pipe(
  v.number('expected a number of US dollars, such as 0.01'),
  v.minValue(0, 'expected a price of 0 or more'),
  v.maxValue(MAX_PRICE_USD, `expected a price per call of at most ${MAX_PRICE_USD} USD`),
)

export const PerCallSchema = v.pipe(
  v.strictObject({
    model: v.literal('per_call'),
    min_usd: PriceSchema,
    max_usd: PriceSchema,
    rails: v.pipe(
      v.array(v.picklist(RAILS, `expected ${RAILS.join(' or ')}`)),
      v.minLength(1, 'expected at least one rail: x402 or mpp'),
      v.check((rails) => new Set(rails).size === rails.length, 'expected each rail once'),
    ),
    /** May be empty: an MPP service may take cards only. */
    networks: v.pipe(
      v.array(NetworkSchema),
      v.check(
        (networks) => new Set(networks).size === networks.length,
        'expected each network once',
      ),
    ),
  }),
  v.forward(
    v.check(
      ({ min_usd, max_usd }) => min_usd <= max_usd,
      'expected max_usd to be at least min_usd',
    ),
    ['max_usd'],
  ),
)

const UnknownPricingSchema = v.strictObject({ model: v.literal('unknown') })

/** spec: Pricing. `unknown` carries no other field: a variant, so that a wrong mix cannot compile. */
export const PricingSchema = v.variant(
  'model',
  [PerCallSchema, UnknownPricingSchema],
  'expected model per_call or unknown',
)
export type Pricing = v.InferOutput<typeof PricingSchema>

export interface Priced {
  cost?: Cost | undefined
  pricing: Pricing
}

export function railsOf(pricing: Pricing) {
  return pricing.model === 'per_call' ? pricing.rails : []
}

export function isPaid(pricing: Pricing): boolean {
  return pricing.model === 'per_call'
}

export function highestPriceOf(pricing: Pricing): number | null {
  return pricing.model === 'per_call' ? pricing.max_usd : null
}

export function lowestPriceOf(pricing: Pricing): number | null {
  return pricing.model === 'per_call' ? pricing.min_usd : null
}

/** The same as lists count it: what is declared free costs 0. */
export function listedPriceOf({ cost, pricing }: Priced): number | null {
  return lowestPriceOf(pricing) ?? (cost === 'free' ? 0 : null)
}

export function networksOf(pricing: Pricing): readonly string[] {
  return pricing.model === 'per_call' ? pricing.networks : []
}

/** The declared price, else one from the price on a rail. */
export function costOf({ cost, pricing }: Priced): Cost {
  return cost ?? (isPaid(pricing) ? 'paid' : 'unknown')
}

/**
 * The named networks: filters, notes, facets, doors, importers and pages read these tables. An id
 * in neither is shown unchanged. Ids are CAIP-2, over the chain ids of ethereum-lists/chains and
 * the genesis hashes of Solana.
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

/** Their coins cost nothing. */
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
 * By every text that means a network: names with spaces, hyphens or neither. Main networks come
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

/** @example toNetworkName('eip155:8453') → 'Base'; what is not in the tables is its own name */
export function toNetworkName(text: string): string {
  return NAMES[toNetworkId(text) ?? ''] ?? text
}

/** The parameter's value for it. @example toNetworkWord('eip155:84532') → 'base-sepolia' */
export function toNetworkWord(text: string): string {
  const id = toNetworkId(text)
  if (id === null) return text
  const name = toNetworkName(id)
  const short = toShort(name)
  const word = IDS_BY_NAME.get(short) === id ? short : name.toLowerCase()
  return word.replaceAll(' ', '-')
}

/** @example toNetworkId('Base') → 'eip155:8453', as for 'eip155:8453'; null for what is not in the tables */
export function toNetworkId(text: string): string | null {
  return Object.hasOwn(NAMES, text) ? text : (IDS_BY_NAME.get(text.toLowerCase()) ?? null)
}

/** By the tables; others are judged by name, as importers meet them. */
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
  return network !== null && PAYOUT_PATTERN.test(payout) ? payout : null
}
