/** Any transfer of an allow-listed token between known wallets; only for wash rules. */
export interface Transfer {
  network: string
  transaction: string
  log: number
  from: string
  to: string
  amount: string
  at: number
  block: number | null
  /** Whether `from` is a contract: exchanges and pools pass on others' money. Null: not checked. */
  from_contract: boolean | null
}

/**
 * Every way to pay that today's official packages or specifications know, and whether we count it.
 * A scheme is counted once the chain itself shows who consented to pay whom, and every forgery that
 * we tried was rejected; until then its row here is uncounted and gives the reason.
 */
interface Scheme {
  id: string
  /** The scheme's name in its packages; pages print it next to payments. */
  name: string
  /** Whether we count it, if the payee is proved or published as a listing's. */
  counted: boolean
  /** Why it is safe to count, or why it is not counted. One or two sentences for people. */
  reason: string
}

export const SCHEMES = [
  counted(
    'eip3009',
    'x402 exact or MPP evm (EIP-3009)',
    'The coin’s own contract logs the buyer’s signature and, next to it, the transfer. Nobody else can write either entry.',
  ),
  counted(
    'solana_exact',
    'x402 exact on Solana',
    'The buyer signs one transfer and somebody else pays the fee, so the buyer agreed to this transfer, but somebody else sent it.',
  ),
  counted(
    'permit2_exact',
    'x402 exact (Permit2)',
    'The call to the one known contract names the coin, the buyer and the seller, and the coin logs that transfer. We ignore contracts and coins made by forgers.',
  ),
  counted(
    'permit2_upto',
    'x402 upto (Permit2)',
    'It works like exact by Permit2. We count the amount taken, not the amount allowed.',
  ),
  counted(
    'tempo_charge',
    'MPP charge on Tempo',
    'The coin logs the transfer with a memo that names the seller’s host and the challenge; the payer is the signer. Anybody can write a memo, but only with their own money, which the seller keeps. The coin there is bridged USD Coin.',
  ),
  uncounted(
    'channels',
    'x402 batch-settlement and auth-capture, MPP session on Tempo',
    'The money waits in a contract, and one claim there pays for many calls. We do not read these contracts.',
  ),
  uncounted(
    'solana_smart_wallet',
    'x402 exact from a Solana smart wallet',
    'The transfer happens inside another program, which decides whose consent it needs.',
  ),
  uncounted(
    'solana_upto',
    'x402 upto on Solana',
    'The payment comes from a channel, which we could not reproduce on a test chain of our own.',
  ),
  uncounted(
    'tempo_machine_token',
    'MPP charge on Tempo, in machine tokens or as one part of a split payment',
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
    'A card payment is on no chain: only the seller can say that it was made.',
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

/** Schemes whose payments are counted, in the order of the table above. */
export type CountedScheme = Extract<(typeof SCHEMES)[number], { counted: true }>['id']
export const COUNTED_SCHEMES: readonly CountedScheme[] = SCHEMES.flatMap((scheme) =>
  scheme.counted ? [scheme.id] : [],
)

/** Shown on each listing with the rail `mpp`, because its numbers may lack part of its sales. */
export const SESSIONS_NOT_COUNTED =
  'Payments by MPP sessions are not counted: their money waits in a contract that we do not read.'

export function nameOfScheme(id: CountedScheme): string {
  return SCHEMES.find((scheme) => scheme.id === id)?.name ?? id
}

function counted<const Id extends string>(id: Id, name: string, reason: string) {
  return { id, name, counted: true as const, reason }
}

function uncounted<const Id extends string>(id: Id, name: string, reason: string) {
  return { id, name, counted: false as const, reason }
}
