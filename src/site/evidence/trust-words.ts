import { toSumText, toUsd } from '../../domain/operation/price-text.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'

/** Less than this is fees alone. */
const MIN_COST_USD = 0.01

type Trust = ListingView['trust']

/** The trust panel of a listing's page, in plain words. */
export interface TrustWords {
  headline: string
  explanation: string
  /** Label and value of each measured number; empty without a measurement. */
  numbers: readonly (readonly [label: string, value: string])[]
  /** What was paid in all; empty without a measurement. */
  volume: string
  /** What inventing its buyers would have cost; null where payments are not known one by one. */
  costToFake: string | null
  /** What was excluded or is watched, one sentence each. */
  notes: readonly string[]
}

export function toTrustWords(trust: Trust): TrustWords {
  if (trust.evidence === 'no_payment_data')
    return {
      headline: 'No payment evidence yet',
      explanation:
        'Nobody has measured payments to this seller, so it has no score. That is not a bad sign. Most services are free, new, or paid in ways that leave no public trace.',
      numbers: [],
      volume: '',
      costToFake: null,
      notes: [],
    }
  if (trust.evidence === 'no_independent_paid_usage_30d')
    return {
      headline: 'No independent buyers in 30 days',
      explanation:
        'Payments to this seller are measured, but none in the last 30 days came from an independent buyer, so there is no score.',
      numbers: toNumbers(trust),
      volume: toSumText(trust.volume_usd_30d),
      costToFake: null,
      notes: toNotes(trust.wash_flags, []),
    }
  return {
    headline: 'Paid by independent buyers',
    explanation:
      trust.sample === 'low'
        ? 'Independent buyers paid this seller on-chain in the last 30 days, but only few of them: read the score as a first sign.'
        : 'Independent buyers paid this seller on-chain in the last 30 days. Wash trades are left out.',
    numbers: toNumbers(trust),
    volume: toSumText(trust.volume_usd_30d),
    costToFake: toCostToFake(trust.cost_to_fake_usd),
    notes: toNotes(trust.wash_flags, trust.watch),
  }
}

function toNumbers(trust: Exclude<Trust, { evidence: 'no_payment_data' }>) {
  const last = trust.last_settlement_at
  const { raw } = trust
  // Counted and before exclusions, side by side, where both are known.
  const of = (all: string | undefined) => (all === undefined ? '' : ` of ${all}`)
  return [
    ['Verified buyers', `${trust.verified_buyers_30d}${of(raw && `${raw.payers} payers`)}`],
    ['Settlements', `${trust.settlements_30d}${of(raw && String(raw.settlements))}`],
    ['Volume', `${toSumText(trust.volume_usd_30d)}${of(raw && toSumText(raw.volume_usd))}`],
    [
      'Largest buyer',
      trust.settlements_30d === 0
        ? 'none'
        : `${Math.round(trust.top_buyer_share_30d * 100)} % of it`,
    ],
    ['Last settlement', last === null ? 'none seen' : last.slice(0, 10)],
    ...toNext(trust.v02),
    ['Payout address', trust.shared_payout ? 'shared with other listings' : 'its own'],
  ] as const
}

/** The score that the method to come would give. */
function toNext(next: { method: string; score: number | null } | undefined) {
  if (next === undefined) return []
  return [[next.method, next.score === null ? 'no score yet' : `${next.score} of 100`]] as const
}

/** Rounded down: "at least" must stay true. */
function toCostToFake(usd: number | undefined): string | null {
  if (usd === undefined) return null
  if (usd < MIN_COST_USD)
    return 'Nothing is known of what its buyers spent elsewhere: faking this would have cost little more than fees.'
  const least = usd < 10 ? Math.floor(usd * 100) / 100 : Math.floor(usd)
  return `Faking this would have cost at least ${toUsd(least)}.`
}

function toNotes(
  washFlags: readonly { flag: string; settlements: number; note?: string | undefined }[],
  watch: readonly { id: string; note: string }[],
): string[] {
  return [
    ...washFlags.map(
      ({ flag, settlements, note }) =>
        `${settlements} settlement${settlements === 1 ? '' : 's'} left out as ${toWords(flag)}${note === undefined ? '' : `: ${note}`}`,
    ),
    ...watch.map(({ id, note }) => `Watched (${toWords(id)}): ${note}`),
  ]
}

function toWords(id: string): string {
  return id.replaceAll('_', ' ')
}
