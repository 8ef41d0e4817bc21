import { toNetworkName } from '../../../domain/listing/network-names.ts'
import type { KnownPayout } from '../../../domain/views/seller-views.ts'

/** How a payout's wallet signs a text. */
export type SigningWay = 'evm' | 'solana'

/** A payout of one's own listing, in words. */
export interface PayoutWords {
  network: string
  address: string
  way: SigningWay
  state: 'proven' | 'contested' | 'unproven'
  label: string
  explanation: string
}

/** @example toPayoutWords({ payout: 'eip155:8453:0x12…', counts: true, … }).network → 'Base' */
export function toPayoutWords({ payout, published, counts, proven_at }: KnownPayout): PayoutWords {
  const [family = '', chain = '', address = ''] = payout.split(':')
  const network = toNetworkName(`${family}:${chain}`)
  const way = family === 'solana' ? 'solana' : 'evm'
  return { network, address, way, ...toState(published, counts, proven_at) }
}

function toState(
  published: boolean,
  counts: boolean,
  provenAt: string | undefined,
): Pick<PayoutWords, 'state' | 'label' | 'explanation'> {
  if (provenAt !== undefined)
    return {
      state: 'proven',
      label: `proven ${provenAt.slice(0, 10)}`,
      explanation: counts
        ? 'Payments to it count for this listing.'
        : 'Payments to it count for this listing from the next build on.',
    }
  if (!published)
    return {
      state: 'unproven',
      label: 'not proven',
      explanation:
        'The listing does not name it. Prove it, and payments to it count from the next build on.',
    }
  if (!counts)
    return {
      state: 'contested',
      label: 'contested',
      explanation:
        'Listings on other domains name it too: payments to it count for nobody until its holder proves it.',
    }
  return {
    state: 'unproven',
    label: 'not proven',
    explanation:
      'Payments to it count as long as nobody else names it. Proven, it is yours, and payments that come without our relay can be metered.',
  }
}
