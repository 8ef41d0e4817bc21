/** What a seller signs to prove a payout; nothing in it moves money. */
export interface PayoutChallenge {
  baseUrl: string
  listingId: string
  /** CAIP-10. */
  payout: string
  nonce: string
  /** Milliseconds since the epoch. */
  expiresAt: number
}

/** Minutes a challenge can be answered. */
export const CHALLENGE_MINUTES = 15

/** The text a wallet shows before it signs: whose, what for, and that it is no payment. */
export function toChallengeText(challenge: PayoutChallenge): string {
  const { baseUrl, listingId, payout, nonce, expiresAt } = challenge
  return [
    `${baseUrl} asks you to prove a payout address.`,
    '',
    'By signing you say that payments to this address are for this listing.',
    'Signing costs nothing, moves nothing and permits nothing.',
    '',
    `Listing: ${listingId}`,
    `Payout: ${payout}`,
    `Nonce: ${nonce}`,
    `Expires: ${new Date(expiresAt).toISOString()}`,
  ].join('\n')
}
