/**
 * Every way a buyer pays that today's official packages or specifications know, and whether we count
 * it. A scheme is counted where the chain itself shows who consented to pay whom, and where we played
 * the forgeries and none was counted; until then it stands here uncounted, with the reason.
 */
export interface Scheme {
  id: string
  /** As its packages call it; pages print it beside the payments it brought. */
  name: string
  /** Counted on the chain for proven payouts, and on calls that went through us where they name a transaction. */
  counted: boolean
  /** Why it is safe to count, or why it is not counted. One or two sentences for people. */
  reason: string
}

export const SCHEMES = [
  {
    id: 'eip3009',
    name: 'x402 exact or MPP evm (EIP-3009)',
    counted: true,
    reason:
      'The coin itself writes that the buyer signed, and next to it the transfer. Nobody else can write either.',
  },
  {
    id: 'solana_exact',
    name: 'x402 exact on Solana',
    counted: true,
    reason:
      'The buyer signs one transfer and somebody else pays the fee, so the buyer agreed to this transfer and did not send it.',
  },
  {
    id: 'permit2_exact',
    name: 'x402 exact (Permit2)',
    counted: true,
    reason:
      'The call to the one known contract names the coin, the buyer and the seller, and the coin writes that transfer. A contract of a forger’s own, or a coin of his own, is neither.',
  },
  {
    id: 'permit2_upto',
    name: 'x402 upto (Permit2)',
    counted: true,
    reason: 'As exact by Permit2. What counts is what was taken, not what was allowed.',
  },
  {
    id: 'tempo_charge',
    name: 'MPP charge on Tempo',
    counted: true,
    reason:
      'The coin writes a memo beside the transfer, which names the seller’s host and the challenge, and the payer is who signed. Anybody can write a memo, but only with money of his own that the seller keeps. The coin there is bridged USD Coin.',
  },
  {
    id: 'batch_settlement',
    name: 'x402 batch-settlement',
    counted: true,
    reason:
      'Claims count, never deposits, and only up to the money the named buyer was seen to put in. Anybody can deposit in another’s name, but then no transfer of that buyer stands before it. We see claims on the chain only: one stands for many calls.',
  },
  {
    id: 'auth_capture',
    name: 'x402 auth-capture',
    counted: true,
    reason:
      'What the seller got counts, after the operator’s fee and less what was refunded since. Only the known collectors move a buyer’s money, by his signature over this very payment. We see it on the chain only: what is paid through us may be refunded days later.',
  },
  {
    id: 'solana_smart_wallet',
    name: 'x402 exact from a Solana smart wallet',
    counted: false,
    reason: 'The transfer happens inside another program, which decides whose consent it needs.',
  },
  {
    id: 'solana_upto',
    name: 'x402 upto on Solana',
    counted: false,
    reason: 'The payment comes out of a channel that we could not play on a chain of our own.',
  },
  {
    id: 'tempo_session',
    name: 'MPP session on Tempo',
    counted: true,
    reason:
      'What the chain’s own reserve paid the seller counts, never deposits. A buyer who opens a channel there puts in his own money, and nobody can write its events elsewhere. We see it on the chain only: one settlement stands for many calls.',
  },
  {
    id: 'tempo_first_session',
    name: 'MPP session on Tempo, by its first contract',
    counted: false,
    reason: 'We have not seen that contract’s code, so we could not play its forgeries.',
  },
  {
    id: 'unproved_channels',
    name: 'Channels and escrows of sellers who proved no payout',
    counted: false,
    reason:
      'A call that is paid from one shows no payment of its own on the chain, or one that may be refunded later. We read them only where the seller proved its payout.',
  },
  {
    id: 'tempo_machine_token',
    name: 'MPP charge on Tempo, in machine tokens or as a share',
    counted: false,
    reason: 'The seller is paid by a swap contract, or by a transfer that carries no memo.',
  },
  {
    id: 'erc7710',
    name: 'x402 exact by delegation (ERC-7710)',
    counted: false,
    reason: 'Any contract can call itself the manager of a delegation.',
  },
  {
    id: 'swap',
    name: 'x402 settlement by swap',
    counted: false,
    reason: 'It is a draft, and its settling contract has no published address.',
  },
  {
    id: 'stripe',
    name: 'MPP stripe',
    counted: false,
    reason: 'A card leaves nothing on a chain. All there is to see is the seller’s word.',
  },
  {
    id: 'lightning',
    name: 'MPP lightning and deferred payment',
    counted: false,
    reason: 'Nothing of it is public on a chain.',
  },
  {
    id: 'other_chains',
    name: 'x402 on Stellar and Algorand',
    counted: false,
    reason: 'We have no reader for these chains.',
  },
  {
    id: 'bundled',
    name: 'Permit2 payments inside a bundled transaction',
    counted: false,
    reason:
      'The call that names the buyer is hidden inside another one, where a contract could imitate it.',
  },
] as const satisfies readonly Scheme[]

/** Those whose payments count, in the order in which they are named. */
export type CountedScheme = Extract<(typeof SCHEMES)[number], { counted: true }>['id']
export const COUNTED_SCHEMES: readonly CountedScheme[] = SCHEMES.flatMap((scheme) =>
  scheme.counted ? [scheme.id] : [],
)

export function nameOfScheme(id: CountedScheme): string {
  return SCHEMES.find((scheme) => scheme.id === id)?.name ?? id
}
