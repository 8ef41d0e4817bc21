/**
 * Decimals of the dollar coins that priced endpoints name, by chain and contract. A coin that is
 * not here has no price in dollars that can be computed: 18 digits read as 6 ask for ten billion.
 *
 * Wider than what counts as payment (`settlement/usd-assets.ts`): a price is a claim, a settlement is
 * proof.
 */
const DECIMALS: Readonly<Record<string, number>> = {
  // USDC
  'eip155:1:0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48': 6,
  'eip155:10:0x0b2c639c533813f4aa9d7837caf62653d097ff85': 6,
  'eip155:137:0x3c499c542cef5e3811e1192ce70d8cc03d5c3359': 6,
  'eip155:143:0x754704bc059f8c67012fed69bc8a327a5aafb603': 6,
  'eip155:480:0x79a02482a880bce3f13e09da970dc34db4cd24d1': 6,
  'eip155:999:0xb88339cb7199b77e23db6e890353e22632ba630f': 6,
  'eip155:1329:0xe15fc38f6d8c56af07bbcbe3baf5708a2bf42392': 6,
  'eip155:8453:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913': 6,
  'eip155:42161:0xaf88d065e77c8cc2239327c5edb3a432268e5831': 6,
  'eip155:42220:0xceba9300f2b948710d2653dd7b07f33a8b32118c': 6,
  'eip155:43114:0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e': 6,
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v': 6,
  // USDT
  'eip155:196:0x779ded0c9e1022225f8e0630b35a9b54be713736': 6,
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB': 6,
  // BNB Chain: bridged USDC, USDT, USD1
  'eip155:56:0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d': 18,
  'eip155:56:0x55d398326f99059ff775485246999027b3197955': 18,
  'eip155:56:0x8d0d000ee44948fc98c9b98a4fa4921476f08b0d': 18,
  // Tempo: bridged USDC, and the chain's own dollar
  'eip155:4217:0x20c000000000000000000000b9537d11c60e8b50': 6,
  'eip155:4217:0x20c0000000000000000000000000000000000000': 6,
}

const TEST_NETWORKS: ReadonlySet<string> = new Set([
  'eip155:84532',
  'eip155:11155111',
  'eip155:80002',
  'eip155:421614',
  'eip155:43113',
  'eip155:42431',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  'solana:4uhcVJyU9pJkvQyS88uRDiswHXSGkY3z',
])

export function isTestNetwork(network: string): boolean {
  return TEST_NETWORKS.has(network) || /\b(?:testnet|sepolia|devnet|fuji|amoy)\b/i.test(network)
}

/** @returns null for a coin that is not known to be worth a dollar. */
export function decimalsOf(network: string, asset: string): number | null {
  const key = `${network}:${network.startsWith('eip155:') ? asset.toLowerCase() : asset}`
  return Object.hasOwn(DECIMALS, key) ? (DECIMALS[key] ?? null) : null
}
