import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ListingView } from '../../../src/domain/views/listing-view.ts'
import type { DashboardPage, Said, SignedInPage } from '../../../src/domain/views/seller-pages.ts'
import type {
  Analytics,
  ClaimStarted,
  Me,
  PayoutChecked,
} from '../../../src/domain/views/seller-views.ts'
import type { Refused } from '../../../src/domain/wire/form-page.ts'
import { listingPath } from '../../../src/domain/wire/links.ts'
import { readSent } from '../../forms/form.ts'
import type { Parts } from '../../parts/parts.ts'
import { type Release, readBuilt } from '../../release/release.ts'
import { createEndpoints, type Endpoints, type SellerHandlers } from './ask-endpoints.ts'

type Read = (name: string) => string
type Act = (ask: Endpoints['ask'], read: Read) => Promise<Said | Refused>

/** Actions of the page's forms, by their field `do`. */
const ACTS = {
  // The same for an open claim: its steps are shown again.
  async claim(ask, read) {
    const send = { listing_id: read('listing_id'), method: read('method') }
    const answer = await ask<ClaimStarted>('claim_start', { send })
    return 'kind' in answer ? answer : { at: answer.body.claim.id, started: answer.body }
  },
  async check(ask, read) {
    const answer = await ask('claim_check', { params: { claim_id: read('claim_id') } })
    // The page shows what was seen: it is stored with the claim.
    return 'kind' in answer ? answer : { at: read('claim_id') }
  },
  async opt_out(ask, read) {
    const removed = read('removed') === 'yes'
    const send = { listing_id: read('listing_id'), removed }
    const answer = await ask('opt_out', { send })
    // The page shows it: the answer of `me` has it.
    return 'kind' in answer ? answer : { at: read('claim_id') }
  },
  async mails(ask, read) {
    const answer = await ask('seller_mails', { send: { listings: read('listings') === 'yes' } })
    return 'kind' in answer ? answer : { at: 'mails' }
  },
  async prove(ask, read) {
    const send = { listing_id: read('listing_id'), payout: read('payout') }
    const answer = await ask<{ challenge: string }>('payout_start', { send })
    return 'kind' in answer
      ? answer
      : { at: read('claim_id'), payout: send.payout, challenge: answer.body.challenge }
  },
  async sign(ask, read) {
    const [listing_id, payout] = [read('listing_id'), read('payout')]
    const send = { listing_id, payout, signature: read('signature') }
    const answer = await ask<PayoutChecked>('payout_check', { send })
    if ('kind' in answer) return answer
    const checked = answer.body
    return { at: read('claim_id'), payout, checked, ...(!checked.verified && textToSign(read)) }
  },
  async withdraw(ask, read) {
    const send = { listing_id: read('listing_id'), payout: read('payout') }
    const answer = await ask('payout_withdraw', { send })
    if ('kind' in answer) return answer
    const line = 'The proof is withdrawn. It stops counting with the next build.'
    return { at: read('claim_id'), payout: send.payout, line }
  },
} satisfies Record<string, Act>

/** `/sellers/dashboard`: answers of the seller endpoints as a page, their writes as forms. */
export function createDashboardPage(
  parts: Pick<Parts, 'config' | 'release' | 'clock'>,
  handlers: SellerHandlers,
) {
  const { config, release, clock } = parts
  return async (req: IncomingMessage, res: ServerResponse): Promise<DashboardPage> => {
    const isSent = req.method === 'POST'
    const fields = await readSent(req, config.BASE_URL)
    if ('kind' in fields) return { answer: fields }
    const read: Read = (name) => fields.get(name)?.trim() ?? ''
    const { ask, cookies } = createEndpoints(handlers, req, config.BASE_URL)
    const isSignOut = isSent && read('do') === 'sign_out'
    const answer = isSignOut ? await signOut(ask) : await show(ask, read, isSent)
    for (const cookie of new Set(cookies)) res.appendHeader('Set-Cookie', cookie)
    return { answer }
  }

  async function show(ask: Endpoints['ask'], read: Read, isSent: boolean) {
    const said = isSent ? await act(ask, read) : null
    const me = await ask<Me>('me')
    const wantedId = read('listing') || read('listing_id')
    if ('kind' in me)
      return me.code === 'not-signed-in' ? { kind: 'signed_out' as const, listing: wantedId } : me
    const cards = await toCards(ask, release(), me.body)
    if ('kind' in cards) return cards
    const wanted = await readListed(release(), wantedId)
    // A message about none of their claims is shown at the form for a new one.
    const isKnown = said?.at === 'mails' || me.body.claims.some(({ id }) => id === said?.at)
    const shown = { me: me.body, ...cards, wanted, wantedId, now: clock.now() }
    return {
      kind: 'signed_in' as const,
      ...shown,
      said: said === null || isKnown ? said : { ...said, at: 'new' },
    }
  }
}

async function signOut(ask: Endpoints['ask']): Promise<DashboardPage['answer']> {
  const ended = await ask('session_end')
  return 'kind' in ended ? ended : { kind: 'left', to: '/sellers' }
}

/** Errors are shown where the form was. */
async function act(ask: Endpoints['ask'], read: Read): Promise<Said> {
  const work = new Map<string, Act>(Object.entries(ACTS)).get(read('do'))
  const answer = work === undefined ? null : await work(ask, read)
  if (answer !== null && !('kind' in answer)) return answer
  const refused = answer ?? {
    kind: 'refused',
    code: 'invalid-parameter',
    reason: `do: expected ${Object.keys(ACTS).join(', ')} or sign_out.`,
  }
  const payout = read('payout')
  const about = payout === '' ? {} : { payout, ...textToSign(read) }
  return { at: read('claim_id') || 'new', refused, ...about }
}

/** The text that the form shows to be signed, for another try. */
function textToSign(read: Read): Pick<Said, 'challenge'> {
  // A form ends its lines as mail does.
  const challenge = read('challenge').replaceAll('\r\n', '\n')
  return challenge === '' ? {} : { challenge }
}

async function toCards(
  ask: Endpoints['ask'],
  release: Release,
  { claims, payouts }: Me,
): Promise<Pick<SignedInPage, 'owned' | 'pending' | 'ended'> | Refused> {
  const verified = claims.filter(({ state }) => state === 'verified')
  const analytics = verified.length === 0 ? null : await ask<Analytics>('analytics')
  if (analytics !== null && 'kind' in analytics) return analytics
  const numbers = analytics?.body.basic.listings ?? []
  const pending = claims.filter(({ state }) => state === 'pending')
  return {
    owned: await Promise.all(
      verified.map(async (claim) => ({
        claim,
        view: await readListed(release, claim.listing_id),
        payouts: payouts.filter(({ listing_id }) => listing_id === claim.listing_id),
        numbers: numbers.find(({ listing_id }) => listing_id === claim.listing_id) ?? null,
      })),
    ),
    pending: await Promise.all(
      pending.map(async (claim) => ({ claim, view: await readListed(release, claim.listing_id) })),
    ),
    ended: claims.filter(({ state }) => state !== 'pending' && state !== 'verified'),
  }
}

/** Only ids of the release reach its files. */
async function readListed(release: Release, id: string): Promise<ListingView | null> {
  return release.listings.has(id) ? readBuilt<ListingView>(release, listingPath(id)) : null
}
