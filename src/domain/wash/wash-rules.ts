/**
 * The numbers of the wash exclusions of `hub-trust-v0.1`, once: the rules compute with
 * them and the method page can print them.
 */
export const WASH = {
  /** Share of what a payer paid that comes back, from which it was a round trip. */
  roundTripShare: 0.85,
  burst: {
    /** First-time payers of one same amount. */
    cohort: 10,
    /** Share of the cohort inside the window. */
    share: 0.7,
    windowMs: 30 * 60 * 1000,
    /** Second signs: one common funder, machine-like spacing, or nobody who ever came back. */
    funderShare: 0.7,
    spacingVariation: 0.15,
    oneShotShare: 0.9,
  },
} as const

/** EVM addresses compare without case, Solana's as they are. */
export function normalizeWallet(wallet: string): string {
  return wallet.startsWith('0x') ? wallet.toLowerCase() : wallet
}
