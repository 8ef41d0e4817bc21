import { toCountText, toSumText } from '../../domain/listing/price-text.ts'
import { nameOfScheme } from '../../domain/trust/payments.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'
import { toWorth } from '../../domain/views/trust-view.ts'

type Trust = ListingView['trust']

/** Texts for a missing measurement or score. */
const NO_WORDS = {
  /** Label and value of each measured number. */
  numbers: [],
  /** All payments. */
  volume: '',
  /** Who is counted, who is not, and what inventing the buyers would have cost. */
  worth: '',
  /** The ways of paying of the counted payments, as one line. */
  paidBy: '',
  /** What was excluded or is watched, one sentence each. */
  notes: [],
}

/** The trust panel of a listing's page, in plain words. */
export function toTrustWords(trust: Trust) {
  if (trust.evidence === 'no_payment_data')
    return {
      ...NO_WORDS,
      headline: 'No payment evidence yet',
      explanation:
        'No payments that may count were measured in the last 30 days, so it has no score. Most services are free, new, or paid in ways that leave no public trace.',
    }
  const unknown = trust.unknown_buyers_30d
  const measured = { numbers: toNumbers(trust), volume: toSumText(trust.volume_usd_30d) }
  if (trust.evidence === 'no_independent_paid_usage_30d')
    return {
      ...NO_WORDS,
      ...measured,
      headline: 'No independent buyers in 30 days',
      explanation:
        unknown === undefined || unknown === 0
          ? 'Payments to this seller are measured, but none in the last 30 days came from an independent buyer, so it has no score yet.'
          : `We know nothing about the ${toCountText(unknown, 'buyer')} who paid this seller in the last 30 days, so it has no score yet. They may well be real.`,
      notes: toNotes(trust.wash_flags, []),
    }
  const worth = toWorth(trust)
  const few = trust.sample === 'low' ? ' They are few: read the score as a first sign.' : ''
  return {
    ...measured,
    headline:
      unknown === undefined
        ? `${toCountText(trust.verified_buyers_30d, 'buyer')}, real or invented`
        : 'Paid by independent buyers',
    explanation: `${worth}${unknown === undefined ? ` ${trust.source}.` : ''}${few}`,
    worth,
    paidBy:
      trust.paid_by === undefined ? '' : `Paid by: ${trust.paid_by.map(nameOfScheme).join(', ')}.`,
    notes: toNotes(trust.wash_flags, trust.watch),
  }
}

function toNumbers(trust: Exclude<Trust, { evidence: 'no_payment_data' }>) {
  const last = trust.last_settlement_at
  const { raw } = trust
  // Counted and before exclusions, side by side, where both are known.
  const of = (all: string | undefined) => (all === undefined ? '' : ` of ${all}`)
  return [
    [
      'Verified buyers',
      `${trust.verified_buyers_30d}${of(raw && toCountText(raw.payers, 'payer'))}`,
    ],
    ...(trust.unknown_buyers_30d === undefined
      ? []
      : [['Buyers we know nothing about', String(trust.unknown_buyers_30d)] as const]),
    ['Settlements', `${trust.settlements_30d}${of(raw && String(raw.settlements))}`],
    ['Volume', `${toSumText(trust.volume_usd_30d)}${of(raw && toSumText(raw.volume_usd))}`],
    [
      'Largest buyer',
      trust.settlements_30d === 0
        ? 'none'
        : `${Math.round(trust.top_buyer_share_30d * 100)} % of it`,
    ],
    ['Last settlement', last === null ? 'none seen' : last.slice(0, 10)],
    ['Payout address', trust.shared_payout ? 'shared with other listings' : 'its own'],
  ] as const
}

function toNotes(
  washFlags: readonly { flag: string; settlements: number; note?: string | undefined }[],
  watch: readonly { id: string; note: string }[],
): string[] {
  return [
    ...washFlags.map(
      ({ flag, settlements, note }) =>
        `${toCountText(settlements, 'settlement')} left out as ${toWords(flag)}${note === undefined ? '' : `: ${note}`}`,
    ),
    // The first sentence already says that.
    ...watch
      .filter(({ id }) => id !== 'independence_unmeasured')
      .map(({ id, note }) => `Watched (${toWords(id)}): ${note}`),
  ]
}

function toWords(id: string): string {
  return id.replaceAll('_', ' ')
}
