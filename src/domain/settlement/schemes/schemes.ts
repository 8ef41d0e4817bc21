/**
 * Every way a buyer pays that today's official packages or specifications know, and whether we
 * count it. A scheme is counted if the chain itself shows who consented to pay whom, and we tried
 * the forgeries and none was counted; until then it is here uncounted, with the reason.
 */
export interface Scheme {
  id: string
  /** The name in its packages; pages print it next to its payments. */
  name: string
  /** Counted where the payee is a listing's, proved or published. */
  counted: boolean
  /** Why it is safe to count, or why it is not counted. One or two sentences for people. */
  reason: string
}

export const SCHEMES = [
  counted(
    'eip3009',
    'x402 exact or MPP evm (EIP-3009)',
    'The coin itself writes that the buyer signed, and next to it the transfer. Nobody else can write either.',
  ),
  counted(
    'solana_exact',
    'x402 exact on Solana',
    'The buyer signs one transfer and somebody else pays the fee, so the buyer agreed to this transfer and did not send it.',
  ),
  counted(
    'permit2_exact',
    'x402 exact (Permit2)',
    'The call to the one known contract names the coin, the buyer and the seller, and the coin writes that transfer. A contract of a forger’s own, or a coin of his own, is neither.',
  ),
  counted(
    'permit2_upto',
    'x402 upto (Permit2)',
    'As exact by Permit2. The amount taken counts, not the amount allowed.',
  ),
  counted(
    'tempo_charge',
    'MPP charge on Tempo',
    'The coin writes a memo with the transfer, which names the seller’s host and the challenge, and the payer is the signer. Anybody can write a memo, but only with their own money, which the seller keeps. The coin there is bridged USD Coin.',
  ),
  counted(
    'batch_settlement',
    'x402 batch-settlement',
    'Claims count, never deposits, and only up to the money the named buyer was seen to put in. Anybody can deposit in another’s name, but then no transfer of that buyer precedes it. We only see claims on the chain: one covers many calls.',
  ),
  counted(
    'auth_capture',
    'x402 auth-capture',
    'What the seller got counts, after the operator’s fee and less later refunds. Only the known collectors move a buyer’s money, by a signature over exactly this payment.',
  ),
  uncounted(
    'solana_smart_wallet',
    'x402 exact from a Solana smart wallet',
    'The transfer happens inside another program, which decides whose consent it needs.',
  ),
  uncounted(
    'solana_upto',
    'x402 upto on Solana',
    'The payment comes out of a channel that we could not play on a chain of our own.',
  ),
  counted(
    'tempo_session',
    'MPP session on Tempo',
    'What the chain’s own reserve paid the seller counts, never deposits. A buyer who opens a channel there puts in their own money, and nobody can write its events elsewhere. We only see it on the chain: one settlement covers many calls.',
  ),
  uncounted(
    'tempo_first_session',
    'MPP session on Tempo, by its first contract',
    'We have not seen that contract’s code, so we could not play its forgeries.',
  ),
  uncounted(
    'tempo_machine_token',
    'MPP charge on Tempo, in machine tokens or as a share',
    'The seller is paid by a swap contract, or by a transfer that carries no memo.',
  ),
  uncounted(
    'erc7710',
    'x402 exact by delegation (ERC-7710)',
    'Any contract can call itself the manager of a delegation.',
  ),
  uncounted(
    'swap',
    'x402 settlement by swap',
    'It is a draft, and its settling contract has no published address.',
  ),
  uncounted(
    'stripe',
    'MPP stripe',
    'A card leaves nothing on a chain. All there is to see is the seller’s word.',
  ),
  uncounted(
    'lightning',
    'MPP lightning and deferred payment',
    'No part of it is public on a chain.',
  ),
  uncounted('other_chains', 'x402 on Stellar and Algorand', 'We have no reader for these chains.'),
  uncounted(
    'bundled',
    'Permit2 payments inside a bundled transaction',
    'The call that names the buyer is hidden inside another one, where a contract could imitate it.',
  ),
] satisfies readonly Scheme[]

/** Schemes whose payments count, in the order in which they are listed. */
export type CountedScheme = Extract<(typeof SCHEMES)[number], { counted: true }>['id']
export const COUNTED_SCHEMES: readonly CountedScheme[] = SCHEMES.flatMap((scheme) =>
  scheme.counted ? [scheme.id] : [],
)

export function nameOfScheme(id: CountedScheme): string {
  return SCHEMES.find((scheme) => scheme.id === id)?.name ?? id
}

function counted<const Id extends string>(id: Id, name: string, reason: string) {
  return { id, name, counted: true as const, reason }
}

function uncounted<const Id extends string>(id: Id, name: string, reason: string) {
  return { id, name, counted: false as const, reason }
}
