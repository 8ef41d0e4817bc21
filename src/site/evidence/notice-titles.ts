import type { Notice } from '../../domain/trust/interface.ts'

/** What a notice is about, in the fewest words. */
export const NOTICE_TITLES: Record<Notice['id'], string> = {
  withdrawn_at_source: 'Withdrawn at its source',
  network_changed: 'Another network',
  price_changed: 'Another price',
  payout_changed: 'Another payout',
  payout_rotating: 'Payouts rotate',
  payout_contested: 'Payout contested',
  disputed: 'Disputed',
}
