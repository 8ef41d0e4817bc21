/**
 * The numbers of the wash exclusions of `hub-trust-v0.1`, once: the rules compute with
 * them and the method page can print them.
 */
export const WASH = {
  /** Share of what a payer paid that comes back, from which it was a round trip. */
  roundTripShare: 0.85,
  /** Days before a first payment in which money that came by another wallet is still the seller's. */
  hopDays: 30,
  burst: {
    /** First-time payers of one same amount. */
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
