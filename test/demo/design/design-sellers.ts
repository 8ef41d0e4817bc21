import type { ListingView } from '../../../src/domain/views/listing-view.ts'
import type { ClaimCard, Outcome, OwnedListing } from '../../../src/domain/views/seller-pages.ts'
import type {
  Analytics,
  ClaimCheckResult,
  ClaimView,
  KnownPayout,
} from '../../../src/domain/views/seller-views.ts'
import { CLAIM_METHODS, CLAIM_STATES } from '../../../src/domain/wire/vocabulary.ts'

/** The seller's cards in every state, for the design page: nothing in them is anybody's. */
const AT = '2026-01-02T03:04:05.000Z'
const ADDRESS = '0x1111111111111111111111111111111111111111'
type SeenDelivery = Analytics['basic']['listings'][number]['deliveries'][number]

const CLAIM = 'claim'

/** Claims in each state, and just started by each method. */
export function toDesignClaims(): { card: ClaimCard; outcome: Outcome | null }[] {
  const ended = CLAIM_STATES.filter((each) => each !== 'verified').map((state) => ({
    card: { claim: toClaim({ state }), view: null },
    outcome: null,
  }))
  return [...ended, ...CLAIM_METHODS.map(toStarted)]
}

/** Owned listings with and without payouts, numbers and proof. */
export function toDesignOwned(
  view: ListingView | null,
  now: number,
): { owned: OwnedListing; outcome: Outcome | null }[] {
  const states = [[], toPayouts()].flatMap((payouts) =>
    [true, false].map((verified) => ({ payouts, verified })),
  )
  return states.map(({ payouts, verified }) => ({
    owned: {
      claim: {
        ...toClaim({ state: 'verified', last_check: toCheck(verified) }),
        removal: verified ? null : { since: '2026-11-20T09:00:00.000Z', effective: 'next_build' },
      },
      view: payouts.length === 0 && !verified ? null : view,
      payouts,
      numbers: toNumbers(verified ? 7 : 0, now),
    },
    outcome: toOutcome(verified, payouts),
  }))
}

function toStarted(method: ClaimView['method']) {
  const claim = toClaim({ method, last_check: toCheck(false) })
  const guide = [
    { text: 'What is to be published', code: 'token' },
    { text: 'A command to see it', code: 'curl -i https://service.example/' },
    { text: 'Run the check.' },
  ]
  const instructions = { method, value: 'token', steps: [], guide }
  const started = { claim, token: 'token', instructions }
  return { card: { claim, view: null }, outcome: { at: CLAIM, started } }
}

/** The text to sign for a payout that is known, and one that was just typed in and is not proven. */
function toOutcome(verified: boolean, payouts: readonly KnownPayout[]): Outcome | null {
  const challenge = 'Sign this.\nIt costs nothing.'
  if (payouts.length === 0)
    return verified
      ? {
          at: CLAIM,
          payout: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:11111111111111111111111111111111',
          challenge,
        }
      : null
  const payout = `eip155:8453:${ADDRESS}`
  const checked = {
    verified: false,
    expected: `a signature of the challenge by ${ADDRESS}`,
    observed: '0x1234',
    payout: { payout, state: 'unproven' as const },
  }
  return verified
    ? { at: CLAIM, line: 'It stays in the directory.' }
    : { at: CLAIM, payout, checked, challenge }
}

function toClaim(change: Partial<ClaimView>): ClaimView {
  return {
    id: CLAIM,
    listing_id: 'x402.service',
    method: 'well_known',
    state: 'pending',
    created_at: AT,
    expires_at: AT,
    ...change,
  }
}

function toCheck(verified: boolean): ClaimCheckResult {
  return {
    verified,
    method: 'well_known',
    checked_at: AT,
    expected: 'https://service.example/file answers 200 with the token',
    observed: verified ? 'token' : 'status 404, text/html: <script>alert(1)</script>',
    reason: verified ? null : 'http_status',
    next: verified ? 'Nothing: the listing is yours.' : 'The file must answer with status 200.',
  }
}

function toPayouts(): KnownPayout[] {
  const known = { listing_id: 'x402.service', payout: `eip155:8453:${ADDRESS}` }
  return [
    { ...known, published: true, counts: true, proven_at: AT },
    { ...known, published: true, counts: true },
    { ...known, published: true, counts: false },
  ]
}

function toNumbers(clicks: number, now: number) {
  const date = new Date(now).toISOString().slice(0, 10)
  return {
    deliveries: clicks === 0 ? [] : toDeliveries(),
    listing_id: 'x402.service',
    clicks: { total: clicks, by_day: [{ date, clicks }], by_src: { web: clicks } },
    calls: clicks,
    search_impressions: clicks,
    last_30_days: { clicks, calls: clicks, search_impressions: clicks },
  }
}

function toDeliveries(): SeenDelivery[] {
  const call = 'GET https://service.example/api/v1/forecast'
  const common = { at: AT, call, operation: 'sha256', status: 200, transaction: null, ms: 210 }
  const reason = 'At "forecast.days": expected an array, and there was none.'
  return [
    { ...common, id: 'receipt-3', verdict: 'other_shape', reason },
    { ...common, id: 'receipt-2', verdict: 'empty', reason, dispute: 'accepted' },
    { ...common, id: 'receipt-1', verdict: 'as_declared', reason: 'It is as declared.' },
  ]
}
