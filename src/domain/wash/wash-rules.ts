/** Numbers of the wash exclusions: the rules compute with them, the method page prints them. */
export const WASH = {
  /** Share of a payer's money that comes back from which on it was a round trip. */
  roundTripShare: 0.85,
  /** Days before a first payment in which money through another wallet is still the seller's. */
  hopDays: 30,
  burst: {
    /** First-time payers of the same amount. */
    cohort: 10,
    /** Share of the cohort inside the window. */
    share: 0.7,
    windowMs: 30 * 60 * 1000,
    /** Second signs: one wallet that funded this share, or nobody who ever paid anyone else. */
    funderShare: 0.5,
  },
} as const

/** EVM addresses compare without case, Solana's as they are. */
export function normalizeWallet(wallet: string): string {
  return wallet.startsWith('0x') ? wallet.toLowerCase() : wallet
}
