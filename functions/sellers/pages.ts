import type { IncomingMessage, ServerResponse } from 'node:http'
import { H3Event } from 'h3'
import { isListingId } from '../../src/domain/listing/listing-text.ts'
import type { ListingView } from '../../src/domain/views/listing-view.ts'
import type {
  DashboardPage,
  Found,
  Outcome,
  SignedInPage,
  SignInPage,
} from '../../src/domain/views/seller-pages.ts'
import type {
  Analytics,
  ClaimStarted,
  Me,
  PayoutChecked,
} from '../../src/domain/views/seller-views.ts'
import { DAY_MS } from '../../src/domain/wire/dates.ts'
import { listingPath } from '../../src/domain/wire/links.ts'
import type { ProblemCode, Refused } from '../../src/domain/wire/problems.ts'
import { RETENTION } from '../../src/domain/wire/retention.ts'
import { ON_DEMAND_PAGES, ROUTES, type StoreRouteId } from '../../src/domain/wire/route-table.ts'
import type { Feature, Parts, StoreRoute } from '../features/feature.ts'
import { readSent } from '../features/form.ts'
import { type Release, readBuilt } from '../release/release.ts'
import { isSecure, readCookie } from './sign-in.ts'

/** The pages of sellers, over the seller endpoints. */
export function createSellerPagesFeature(parts: Parts, handlers: SellerHandlers) {
  const dashboard = createDashboardPage(parts, handlers)
  const signIn = createSignInPage(parts, handlers)
  return {
    pages: {
      [ON_DEMAND_PAGES.dashboard]: {
        hasForm: true,
        isSecret: true,
        prepare: async (req, res) => ({ dashboard: await dashboard(req, res) }),
      },
      [ON_DEMAND_PAGES.signIn]: {
        hasForm: true,
        isSecret: true,
        isOpen: true,
        prepare: async (req, res) => ({ signIn: await signIn(req, res) }),
      },
    },
  } satisfies Feature
}

type Read = (name: string) => string
type Ask = Endpoints['ask']
type Act = (ask: Ask, read: Read) => Promise<Outcome>

/** Actions of the page's forms, by their field `do`. */
const ACTS = {
  // The same for an open claim: its steps are shown again.
  async claim(ask, read) {
    const send = { listing_id: read('listing_id'), method: read('method') }
    const started = await ask<ClaimStarted>('claim_start', { send })
    return { at: started.claim.id, started }
  },
  // What these three came to is in the answer of `me`, and shown from there.
  async check(ask, read) {
    await ask('claim_check', { params: { claim_id: read('claim_id') } })
    return { at: read('claim_id') }
  },
  async opt_out(ask, read) {
    const removed = read('removed') === 'yes'
    await ask('opt_out', { send: { listing_id: read('listing_id'), removed } })
    return { at: read('claim_id') }
  },
  async mails(ask, read) {
    await ask('seller_mails', { send: { listings: read('listings') === 'yes' } })
    return { at: 'mails' }
  },
  async prove(ask, read) {
    const send = { listing_id: read('listing_id'), payout: read('payout') }
    const { challenge } = await ask<{ challenge: string }>('payout_start', { send })
    return { at: read('claim_id'), payout: send.payout, challenge }
  },
  async sign(ask, read) {
    const [listing_id, payout] = [read('listing_id'), read('payout')]
    const send = { listing_id, payout, signature: read('signature') }
    const checked = await ask<PayoutChecked>('payout_check', { send })
    return { at: read('claim_id'), payout, checked, ...(!checked.verified && textToSign(read)) }
  },
  async withdraw(ask, read) {
    const send = { listing_id: read('listing_id'), payout: read('payout') }
    await ask('payout_withdraw', { send })
    const line = 'The proof is withdrawn. It stops counting with the next build.'
    return { at: read('claim_id'), payout: send.payout, line }
  },
} satisfies Record<string, Act>

type DashboardParts = Pick<Parts, 'config' | 'release' | 'publishedAt' | 'clock'>

/** `/sellers/dashboard`: answers of the seller endpoints as a page, their writes as forms. */
function createDashboardPage(parts: DashboardParts, handlers: SellerHandlers) {
  const { config } = parts
  return async (req: IncomingMessage, res: ServerResponse): Promise<DashboardPage> => {
    const isSent = req.method === 'POST'
    const fields = await readSent(req, config.BASE_URL)
    if ('kind' in fields) return { answer: fields }
    const read: Read = (name) => fields.get(name)?.trim() ?? ''
    const { ask, cookies } = createEndpoints(handlers, req, config.BASE_URL)
    const isSignOut = isSent && read('do') === 'sign_out'
    const answer = await orRefused(() =>
      isSignOut ? signOut(ask) : showDashboard(parts, ask, read, isSent),
    )
    for (const cookie of new Set(cookies)) res.appendHeader('Set-Cookie', cookie)
    const mail = answer.kind === 'signed_in' ? answer.me.seller.email : ''
    return { answer, found: findOnDomain(parts.release(), read('domain'), mail) }
  }
}

async function signOut(ask: Ask): Promise<DashboardPage['answer']> {
  await ask('session_end')
  return { kind: 'left', to: '/sellers' }
}

async function showDashboard(
  { release, clock, publishedAt }: DashboardParts,
  ask: Ask,
  read: Read,
  isSent: boolean,
): Promise<DashboardPage['answer']> {
  const outcome = isSent ? await act(ask, read) : null
  const wantedId = read('listing') || read('listing_id')
  const me = await orRefused(() => ask<Me>('me'))
  if ('kind' in me)
    return me.code === 'not-signed-in' ? { kind: 'signed_out', listing: wantedId } : me
  const cards = await toCards(ask, release(), me)
  const wanted = await readListed(release(), wantedId)
  // A message about none of their claims is shown at the form for a new one.
  const isKnown = outcome?.at === 'mails' || me.claims.some(({ id }) => id === outcome?.at)
  return {
    kind: 'signed_in',
    ...{ me, ...cards, wanted, wantedId, now: clock.now() },
    next_build: publishedAt() + DAY_MS,
    outcome: outcome === null || isKnown ? outcome : { ...outcome, at: 'new' },
  }
}

/** Errors are shown where the form was. */
async function act(ask: Ask, read: Read): Promise<Outcome> {
  const work = new Map<string, Act>(Object.entries(ACTS)).get(read('do'))
  const outcome = await orRefused(async (): Promise<Outcome | Refused> => {
    if (work !== undefined) return work(ask, read)
    const reason = `do: expected ${Object.keys(ACTS).join(', ')} or sign_out.`
    return { kind: 'refused', code: 'invalid-parameter', reason }
  })
  if (!('kind' in outcome)) return outcome
  const payout = read('payout')
  const about = payout === '' ? {} : { payout, ...textToSign(read) }
  return { at: read('claim_id') || 'new', refused: outcome, ...about }
}

/** The text that the form shows to be signed, for another try. */
function textToSign(read: Read): Pick<Outcome, 'challenge'> {
  // A form ends its lines as mail does.
  const challenge = read('challenge').replaceAll('\r\n', '\n')
  return challenge === '' ? {} : { challenge }
}

async function toCards(
  ask: Ask,
  release: Release,
  { claims, payouts }: Me,
): Promise<Pick<SignedInPage, 'owned' | 'pending' | 'ended'>> {
  const verified = claims.filter(({ state }) => state === 'verified')
  const pending = claims.filter(({ state }) => state === 'pending')
  const numbers = verified.length === 0 ? [] : (await ask<Analytics>('analytics')).basic.listings
  const owned = await Promise.all(
    verified.map(async (claim) => ({
      claim,
      view: await readListed(release, claim.listing_id),
      payouts: payouts.filter(({ listing_id }) => listing_id === claim.listing_id),
      numbers: numbers.find(({ listing_id }) => listing_id === claim.listing_id) ?? null,
    })),
  )
  return {
    // The busiest first.
    owned: owned.sort((a, b) => trafficOf(b) - trafficOf(a)),
    pending: await Promise.all(
      pending.map(async (claim) => ({ claim, view: await readListed(release, claim.listing_id) })),
    ),
    ended: claims.filter(({ state }) => state !== 'pending' && state !== 'verified'),
  }
}

function trafficOf({ numbers }: SignedInPage['owned'][number]): number {
  const { clicks = 0, calls = 0 } = numbers?.last_30_days ?? {}
  return clicks + calls
}

/** More listings of one host than this are not claimed one by one. */
const MOST_FOUND = 30

/**
 * The listings on a host and below it: of the domain that was typed, which may be a whole address; else
 * of the mail's domain, where it has any.
 */
function findOnDomain({ listings }: Release, typed: string, mail: string): Found | null {
  const text = typed || (mail.split('@')[1] ?? '')
  const domain = URL.parse(text.includes('://') ? text : `https://${text}`)?.hostname ?? ''
  if (!domain.includes('.')) return typed === '' ? null : { domain: typed, listings: [] }
  const found = [...listings.values()].filter(({ url }) => {
    // Reading each address would take a tenth of a second for 100,000 listings.
    if (!url.includes(domain)) return false
    const host = new URL(url).hostname
    return host === domain || host.endsWith(`.${domain}`)
  })
  if (typed === '' && found.length === 0) return null
  return { domain, listings: found.slice(0, MOST_FOUND) }
}

/** Only ids of the release reach its files. */
async function readListed(release: Release, id: string): Promise<ListingView | null> {
  return release.listings.has(id) ? readBuilt<ListingView>(release, listingPath(id)) : null
}

/** Headers for the caller and its site: a page's form has no more rights than its sender. */
const PASSED_ON = ['cookie', 'origin', 'sec-fetch-site', 'x-forwarded-for'] as const

type SellerHandlers = Readonly<Partial<Record<StoreRouteId, StoreRoute>>>
type Endpoints = ReturnType<typeof createEndpoints>

/** What an endpoint answered instead of what the page wants. */
class EndpointRefused extends Error {
  override name = 'EndpointRefused'
  readonly refused: Refused
  constructor(refused: Refused) {
    super(refused.reason)
    this.refused = refused
  }
}

/** What the work gives, or why an endpoint refused it. */
async function orRefused<T>(work: () => Promise<T>): Promise<T | Refused> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof EndpointRefused) return error.refused
    throw error
  }
}

/**
 * The seller endpoints, asked in this process for the page that `req` wants. Session, limits, other
 * sites and the store are checked where they always are: in the handler.
 */
function createEndpoints(handlers: SellerHandlers, req: IncomingMessage, baseUrl: string) {
  const cookies: string[] = []
  const headers = new Headers({ 'content-type': 'application/json' })
  for (const name of PASSED_ON) {
    const value = req.headers[name]?.toString()
    if (value !== undefined) headers.set(name, value)
  }
  return {
    /** `Set-Cookie` values of all answers; the page carries them to the browser. */
    cookies,
    /** @throws EndpointRefused */
    async ask<Body>(
      id: StoreRouteId,
      { send, params = {} }: { send?: object; params?: Record<string, string> } = {},
    ): Promise<Body> {
      const handler = handlers[id]
      const { path, methods } = ROUTES[id]
      if (handler === undefined) throw new Error(`expected a handler of ${id}`)
      const request = new Request(new URL(path, baseUrl), {
        method: methods[0],
        headers,
        ...(send !== undefined && { body: JSON.stringify(send) }),
      })
      const ip = req.socket.remoteAddress
      const answer = await handler(new H3Event(Object.assign(request, { ip }), { params }))
      for (const cookie of answer.headers.getSetCookie()) cookies.push(cookie)
      const body = answer.status === 204 ? null : await answer.json()
      if (answer.ok) return body
      throw new EndpointRefused(toRefused(body, answer))
    },
  }
}

function toRefused(problem: { code: ProblemCode; detail: string }, { headers }: Response): Refused {
  const later = headers.get('retry-after')
  return {
    kind: 'refused',
    code: problem.code,
    reason: problem.detail,
    ...(later !== null && { headers: { 'Retry-After': later } }),
  }
}

/** The listing to be claimed, remembered until the mailed link brings the seller back. */
const WANTED = 'wanted-listing'

/**
 * `/sellers/sign-in`: requests a link, and redeems the mailed one. It takes a click: a mail scanner
 * that follows links submits no form.
 */
function createSignInPage({ config }: Pick<Parts, 'config'>, handlers: SellerHandlers) {
  const keepWanted = (res: ServerResponse, listing: string, minutes: number) => {
    const secure = isSecure({ config }) ? '; Secure' : ''
    const where = `Max-Age=${minutes * 60}; Path=/sellers; HttpOnly; SameSite=Lax${secure}`
    res.appendHeader('Set-Cookie', `${WANTED}=${listing}; ${where}`)
  }
  return async (req: IncomingMessage, res: ServerResponse): Promise<SignInPage> => {
    const sent = await readSent(req, config.BASE_URL)
    if ('kind' in sent) return { answer: sent, token: '', listing: '' }
    const read = (name: string) => sent.get(name)?.trim() ?? ''
    const [token, listing] = [read('token'), toListing(read('listing'))]
    if (req.method !== 'POST') return { answer: { kind: 'empty' }, token, listing }
    const { ask, cookies } = createEndpoints(handlers, req, config.BASE_URL)
    if (token === '') return { answer: await orRefused(askForLink), token, listing }
    return { answer: await orRefused(useLink), token: '', listing }

    async function askForLink(): Promise<SignInPage['answer']> {
      const email = read('email')
      await ask('login', { send: { email } })
      if (listing !== '') keepWanted(res, listing, RETENTION.login_token_minutes)
      return { kind: 'sent', email }
    }
    async function useLink(): Promise<SignInPage['answer']> {
      await ask('session_start', { send: { token } })
      const wanted = toListing(readCookie(req.headers.cookie ?? null, WANTED) ?? '')
      for (const cookie of cookies) res.appendHeader('Set-Cookie', cookie)
      keepWanted(res, '', 0)
      return { kind: 'left', to: `/sellers/dashboard${wanted && `?listing=${wanted}`}` }
    }
  }
}

/** An id is letters, digits, dots and dashes: safe in a cookie and an address. */
function toListing(text: string): string {
  return isListingId(text) ? text : ''
}
