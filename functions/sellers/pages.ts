import type { IncomingMessage, ServerResponse } from 'node:http'
import { isListingId } from '../../src/domain/listing/listing-text.ts'
import {
  findHostOwner,
  isProvedAt,
  readClaimHost,
  toClaimWays,
} from '../../src/domain/sellers/claim-rules.ts'
import type { ListingView } from '../../src/domain/views/listing-view.ts'
import type {
  ClaimWay,
  DashboardPage,
  Found,
  Me,
  Outcome,
  SignedInPage,
  SignInPage,
} from '../../src/domain/views/seller-views.ts'
import { present } from '../../src/domain/wire/json.ts'
import { listingPath } from '../../src/domain/wire/links.ts'
import { ON_DEMAND_PAGES } from '../../src/domain/wire/routes.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/wire/shapes.ts'
import { type ClaimMethod, RETENTION } from '../../src/domain/wire/vocabulary.ts'
import type { Feature, Parts } from '../features/feature.ts'
import { orRefused, readSent, withStore } from '../features/routes.ts'
import { refuse } from '../http/answers.ts'
import { type Release, readBuilt } from '../release/release.ts'
import { nodeClientOf } from '../server/rate-limits.ts'
import { createClaimCheck, reverifyClaims } from './claim-checks.ts'
import { claimRulesOf, createClaimRoutes, findClaimable } from './claims.ts'
import { createLetters, notifyOwners } from './letters.ts'
import { createPayoutRoutes, recheckContracts } from './payouts.ts'
import {
  createSignInRoutes,
  isSecure,
  readCookie,
  type SellerCall,
  type SellerRoute,
} from './sign-in.ts'

/** All features for sellers: endpoints, emails, and pages that use the endpoints. */
export function createSellersFeature(parts: Parts) {
  const routes = createRoutes(parts)
  return {
    routes,
    letters: createLetters(parts),
    chores: [
      { name: 'claims', everyMs: HOUR_MS, run: async () => void (await reverifyClaims(parts)) },
      { name: 'letters', everyMs: HOUR_MS, run: () => notifyOwners(parts) },
      { name: 'payouts', everyMs: HOUR_MS, run: async () => void (await recheckContracts(parts)) },
    ],
    pages: {
      [ON_DEMAND_PAGES.dashboard]: {
        hasForm: true,
        isSecret: true,
        prepare: async (req, res) => ({
          dashboard: await showDashboardPage(parts, routes, req, res),
        }),
      },
      [ON_DEMAND_PAGES.signIn]: {
        hasForm: true,
        isSecret: true,
        isOpen: true,
        prepare: async (req, res) => ({ signIn: await showSignInPage(parts, routes, req, res) }),
      },
    },
  } satisfies Feature
}

function createRoutes(parts: Parts) {
  return {
    ...createClaimRoutes(parts),
    claim_check: createClaimCheck(parts),
    ...createPayoutRoutes(parts),
    ...createSignInRoutes(parts),
  }
}

type SellerRoutes = ReturnType<typeof createRoutes>

type Read = (name: string) => string
/** Calls one of the sellers' routes, chosen by `choose`. */
type Ask = <Answer>(
  choose: (routes: SellerRoutes) => SellerRoute<Answer>,
  sent?: object,
  params?: SellerCall['params'],
) => Promise<Answer>
type Act = (ask: Ask, read: Read) => Promise<Outcome>

/** Actions of the page's forms, by their field `do`. */
const ACTS = {
  // For a claim that is already open, the steps are shown again.
  async claim(ask, read) {
    const sent = { listing_id: read('listing_id'), method: read('method') }
    const started = await ask((to) => to.claim_start, sent)
    const { id, method, state } = started.claim
    // With this method, signing in was the only step.
    if (method === 'contact_email' && state === 'pending') return checkClaim(ask, id)
    return { at: id, started }
  },
  check: (ask, read) => checkClaim(ask, read('claim_id')),
  // For the next two actions, the page takes the results from the answer of `me`.
  async opt_out(ask, read) {
    const removed = read('removed') === 'yes'
    await ask((to) => to.opt_out, { listing_id: read('listing_id'), removed })
    // For a listing that a build has already removed, the page itself says when it returns.
    const isStaying = !removed && read('left') !== 'yes'
    return { at: read('claim_id'), ...(isStaying && { line: 'The listing is kept.' }) }
  },
  async mails(ask, read) {
    await ask((to) => to.seller_mails, { listings: read('listings') === 'yes' })
    return { at: 'mails' }
  },
  async prove(ask, read) {
    const sent = toTarget(read)
    const { challenge } = await ask((to) => to.payout_start, sent)
    return { at: read('claim_id'), payout: sent.payout, challenge }
  },
  async sign(ask, read) {
    const sent = { ...toTarget(read), signature: read('signature') }
    const checked = await ask((to) => to.payout_check, sent)
    const text = checked.verified ? {} : textToSign(read)
    return { at: read('claim_id'), payout: sent.payout, checked, ...text }
  },
  async withdraw(ask, read) {
    const sent = toTarget(read)
    await ask((to) => to.payout_withdraw, sent)
    const line = 'The proof is withdrawn. The next build no longer uses it.'
    return { at: read('claim_id'), payout: sent.payout, line }
  },
} satisfies Record<string, Act>

const toTarget = (read: Read) => ({ listing_id: read('listing_id'), payout: read('payout') })

/** The page shows the check's result from the answer of `me`. */
async function checkClaim(ask: Ask, claim_id: string): Promise<Outcome> {
  const { result } = await ask((to) => to.claim_check, {}, { claim_id })
  const line = 'The listing is yours and shows as claimed from the next build.'
  return { at: claim_id, ...(result.verified && { line }) }
}

/** `/sellers/dashboard`: shows the seller endpoints' answers as a page, and their writes as forms. */
async function showDashboardPage(
  parts: Parts,
  routes: SellerRoutes,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<DashboardPage> {
  const fields = await orRefused(parts, () => readSent(req, parts.config.BASE_URL))
  if ('kind' in fields) return { answer: fields }
  const read: Read = (name) => fields.get(name)?.trim() ?? ''
  const ask = createAsk(parts, routes, req, res)
  const isSent = req.method === 'POST'
  const answer = await orRefused(parts, () =>
    isSent && read('do') === 'sign_out' ? signOut(ask) : showDashboard(parts, ask, read, isSent),
  )
  const mail = answer.kind === 'signed_in' ? answer.me.seller.email : ''
  return { answer, found: findOnDomain(parts.release(), read('domain'), mail) }
}

/**
 * Calls a seller endpoint for the page that `req` requests: the endpoint checks session and limits
 * as usual, and `readSent` has refused forms from other sites. `res` passes the cookies of all
 * answers to the browser.
 */
function createAsk(
  { config, log }: Pick<Parts, 'config' | 'log'>,
  routes: SellerRoutes,
  req: IncomingMessage,
  res: ServerResponse,
): Ask {
  const cookies = new Set<string>()
  const caller = {
    client: nodeClientOf(req, config),
    cookie: req.headers.cookie ?? null,
    setCookie(cookie: string) {
      if (!cookies.has(cookie)) res.appendHeader('Set-Cookie', cookie)
      cookies.add(cookie)
    },
  }
  return (choose, sent = {}, params = {}) =>
    withStore(log, () => choose(routes).act({ ...caller, params, read: async () => sent }))
}

async function signOut(ask: Ask): Promise<DashboardPage['answer']> {
  await ask((to) => to.session_end)
  return { kind: 'left', to: '/sellers' }
}

async function showDashboard(
  parts: Parts,
  ask: Ask,
  read: Read,
  isSent: boolean,
): Promise<DashboardPage['answer']> {
  const { release, clock, publishedAt } = parts
  const outcome = isSent ? await act(parts, ask, read) : null
  const wantedId = read('listing') || read('listing_id')
  const me = await orRefused(parts, () => ask((to) => to.me))
  if ('kind' in me) {
    if (me.code !== 'not-signed-in') return me
    const listed = present({ wanted: release().listings.get(wantedId) })
    return { kind: 'signed_out', listing: wantedId, ...listed }
  }
  const cards = await toCards(parts, ask, me, wantedId)
  const listing = release().listings.get(wantedId) ?? release().optedOut.get(wantedId)
  const ways = toWays(parts, wantedId, me.seller.email)
  // A message that concerns no known claim is shown at the form for a new claim.
  const isKnown = outcome?.at === 'mails' || me.claims.some(({ id }) => id === outcome?.at)
  return {
    kind: 'signed_in',
    ...{ me, ...cards, now: clock.now() },
    wanted: listing === undefined ? null : { id: wantedId, ways, listing },
    next_build: publishedAt() + DAY_MS,
    outcome: outcome === null || isKnown ? outcome : { ...outcome, at: 'new' },
  }
}

/** Does what a form requests; an error is shown where the form was. */
async function act(parts: Parts, ask: Ask, read: Read): Promise<Outcome> {
  const work = new Map<string, Act>(Object.entries(ACTS)).get(read('do'))
  const outcome = await orRefused(parts, async () => {
    if (work !== undefined) return work(ask, read)
    const detail = `do: expected ${Object.keys(ACTS).join(', ')} or sign_out.`
    return refuse('invalid-parameter', { detail })
  })
  if (!('kind' in outcome)) return outcome
  const payout = read('payout')
  const about = payout === '' ? {} : { payout, ...textToSign(read) }
  return { at: read('claim_id') || 'new', refused: outcome, ...about }
}

/** The text to sign, which the form shows again for another try. */
function textToSign(read: Read): Pick<Outcome, 'challenge'> {
  // A form ends its lines with CRLF.
  const challenge = read('challenge').replaceAll('\r\n', '\n')
  return challenge === '' ? {} : { challenge }
}

/** @param first id of a listing that comes before the others */
async function toCards(
  parts: Parts,
  ask: Ask,
  { claims, payouts, seller }: Me,
  first: string,
): Promise<Pick<SignedInPage, 'owned' | 'pending' | 'ended'>> {
  const release = parts.release()
  const cards = await Promise.all(
    claims.map(async (claim) => ({
      claim,
      name: findClaimable(release, claim.listing_id)?.name ?? claim.listing_id,
      ways: toWays(parts, claim.listing_id, seller.email),
      view: await readListed(release, claim.listing_id),
    })),
  )
  const verified = cards.filter(({ claim }) => claim.state === 'verified')
  const numbers = verified.length === 0 ? [] : (await ask((to) => to.analytics)).basic.listings
  const owned = verified.map((card) => ({
    ...card,
    payouts: payouts.filter(({ listing_id }) => listing_id === card.claim.listing_id),
    numbers: numbers.find(({ listing_id }) => listing_id === card.claim.listing_id) ?? null,
  }))
  const isFirst = ({ claim }: SignedInPage['pending'][number]) => Number(claim.listing_id === first)
  return {
    // The requested listing comes first, then the busiest.
    owned: owned.sort((a, b) => isFirst(b) - isFirst(a) || trafficOf(b) - trafficOf(a)),
    pending: cards
      .filter(({ claim }) => claim.state === 'pending')
      .sort((a, b) => isFirst(b) - isFirst(a)),
    ended: cards.filter(({ claim }) => claim.state !== 'pending' && claim.state !== 'verified'),
  }
}

function trafficOf({ numbers }: SignedInPage['owned'][number]): number {
  const { clicks = 0, calls = 0 } = numbers?.last_30_days ?? {}
  return clicks + calls
}

/** The proof methods that a listing allows; a proof by the seller's own address comes first. */
function toWays(parts: Parts, id: string, email: string): ClaimWay[] {
  const url = findClaimable(parts.release(), id)?.url
  if (url === undefined) return []
  const rules = claimRulesOf(parts)
  const { mailDomain } = readClaimHost(url, 'contact_email', rules)
  const isNear = email.endsWith(`@${mailDomain}`)
  const toWay = (method: ClaimMethod): ClaimWay =>
    method === 'contact_email' && !isNear ? { method, needs: mailDomain } : { method }
  const ways = toClaimWays(url, rules, '').methods.map(toWay)
  const rankOf = ({ method }: ClaimWay) => Number(!(isNear && method === 'contact_email'))
  return ways.sort((a, b) => rankOf(a) - rankOf(b))
}

/** The most listings shown for one host: nobody would claim more of them one by one. */
const MOST_FOUND = 30

/**
 * The listings on a host and its subdomains: those of the typed domain (or address, or listing id or name), otherwise
 * those of the email address's domain, if it has listings. On a shared host, the repository's listings.
 */
function findOnDomain(
  { listings, sharedHosts }: Release,
  typed: string,
  mail: string,
): Found | null {
  const named = listings.get(typed)
  if (named !== undefined) return { domain: typed, isShared: false, listings: [named] }
  const text = typed || (mail.split('@')[1] ?? '')
  const address = URL.parse(text.includes('://') ? text : `https://${text}`)
  // People copy `www.` from a browser; the domain without it covers both hosts.
  const domain = (address?.hostname ?? '').replace(/^www\./, '')
  if (!domain.includes('.')) {
    const name = typed.toLowerCase()
    const called = [...listings.values()].filter((each) => each.name.toLowerCase().includes(name))
    const few = called.slice(0, MOST_FOUND)
    return typed === '' ? null : { domain: typed, isShared: false, listings: few }
  }
  const owner = findHostOwner(domain, sharedHosts)
  const isShared =
    owner.kind === 'nobody' ? !owner.isLocal : owner.kind === 'owned' && owner.isPlatform
  const place = isShared
    ? `${domain}${address?.pathname}`.toLowerCase().split('/', 3).join('/')
    : domain
  const isThere = (url: string) => {
    const host = new URL(url).hostname
    return isShared ? isProvedAt(url, place) : host === domain || host.endsWith(`.${domain}`)
  }
  // Parsing each address would take a tenth of a second for 100,000 listings.
  const isNear = (url: string) => url.toLowerCase().includes(place) && isThere(url)
  const found = [...listings.values()].filter(({ url }) => isNear(url)).slice(0, MOST_FOUND)
  return typed === '' && found.length === 0 ? null : { domain: place, isShared, listings: found }
}

/** Reads a listing of the release; other ids never become a file's address. */
async function readListed(release: Release, id: string): Promise<ListingView | null> {
  return release.listings.has(id) ? readBuilt<ListingView>(release, listingPath(id)) : null
}

/** What the seller came for, remembered until the emailed link brings them back. */
const WANTED = 'wanted'

/**
 * `/sellers/sign-in`: requests a link, and redeems the emailed link. Redeeming takes a click,
 * because a mail scanner that follows links submits no form.
 */
async function showSignInPage(
  parts: Parts,
  routes: SellerRoutes,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<SignInPage> {
  const sent = await orRefused(parts, () => readSent(req, parts.config.BASE_URL))
  if ('kind' in sent) return { answer: sent, token: '', wanted: '' }
  const read = (name: string) => sent.get(name)?.trim() ?? ''
  const [token, wanted] = [read('token'), toWanted(read)]
  if (req.method !== 'POST') return { answer: { kind: 'empty' }, token, wanted }
  const ask = createAsk(parts, routes, req, res)
  const keepWanted = (query: string, minutes: number) => {
    const secure = isSecure(parts) ? '; Secure' : ''
    const where = `Max-Age=${minutes * 60}; Path=/sellers; HttpOnly; SameSite=Lax${secure}`
    res.appendHeader('Set-Cookie', `${WANTED}=${query}; ${where}`)
  }
  if (token === '') return { answer: await orRefused(parts, askForLink), token, wanted }
  return { answer: await orRefused(parts, useLink), token: '', wanted }

  async function askForLink(): Promise<SignInPage['answer']> {
    const email = read('email')
    await ask((to) => to.login, { email })
    if (wanted !== '') keepWanted(wanted, RETENTION.login_token_minutes)
    return { kind: 'sent', email }
  }
  async function useLink(): Promise<SignInPage['answer']> {
    await ask((to) => to.session_start, { token })
    const kept = new URLSearchParams(readCookie(req.headers.cookie ?? null, WANTED) ?? '')
    const query = toWanted((name) => kept.get(name) ?? '')
    keepWanted('', 0)
    return { kind: 'left', to: `/sellers/dashboard${query && `?${query}#claim-new`}` }
  }
}

/** What to keep from a query: ids and places, which are letters, digits and a few marks. */
function toWanted(read: Read): string {
  const wanted = new URLSearchParams()
  const [listing, domain] = [read('listing'), read('domain')]
  if (isListingId(listing)) wanted.set('listing', listing)
  if (/^[\w./-]{1,253}$/.test(domain)) wanted.set('domain', domain)
  return wanted.toString()
}
