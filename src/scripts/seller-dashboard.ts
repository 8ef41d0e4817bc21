import type { ClaimStarted, ClaimView } from '../domain/views/seller-views.ts'
import { createClaimCard, showInstructions } from './claim-card.ts'
import { createClicksPlot } from './clicks-plot.ts'
import { callSellers, recallListing, rememberListing, rememberSession } from './seller-api.ts'

/** The seller's own page: everything on it comes from the JSON endpoints. */
interface Me {
  seller: { email: string }
  claims: ClaimView[]
  stats: { listings: number; clicks_30d: number; calls_30d: number }
}

interface Analytics {
  basic: {
    listings: {
      listing_id: string
      clicks: {
        total: number
        by_day: { date: string; clicks: number }[]
        by_src: Record<string, number>
      }
      calls: number
      search_impressions?: number
    }[]
  }
}

const PLOT_DAYS = 90

const find = <Kind extends HTMLElement>(selector: string) => document.querySelector<Kind>(selector)
const account = find('[data-account]')
const claims = find('[data-claims]')
const claimTemplate = find<HTMLTemplateElement>('template[data-claim]')
const form = find<HTMLFormElement>('[data-claim-form]')

void show()
form?.addEventListener('submit', (event) => {
  event.preventDefault()
  void startClaim(form)
})
find('[data-sign-out]')?.addEventListener('click', () => void signOut())

async function show(): Promise<void> {
  const me = await callSellers<Me>('GET', 'me')
  if (!me.ok) return showProblem(me.status, me.detail)
  const { seller, claims: own, stats } = me.body
  if (account !== null)
    account.textContent = `Signed in as ${seller.email}. Last 30 days: ${stats.clicks_30d} clicks and ${stats.calls_30d} relayed calls on ${stats.listings} ${stats.listings === 1 ? 'listing' : 'listings'}.`
  reveal('[data-content]')
  if (own.length === 0) reveal('[data-no-claims]')
  if (claimTemplate !== null)
    claims?.replaceChildren(...own.map((claim) => createClaimCard(claimTemplate, claim)))
  const box = form?.querySelector<HTMLInputElement>('[name=listing_id]')
  const wanted = recallListing()
  if (box != null && !own.some(({ listing_id }) => listing_id === wanted)) box.value = wanted
  await showAnalytics()
}

async function startClaim(form: HTMLFormElement): Promise<void> {
  const data = new FormData(form)
  const listing_id = String(data.get('listing_id') ?? '').trim()
  const answer = await callSellers<ClaimStarted>('POST', 'claim', {
    listing_id,
    method: String(data.get('method') ?? ''),
  })
  const status = form.querySelector('[data-status]')
  if (status !== null)
    status.textContent = answer.ok ? 'Claim started. The steps are below.' : answer.detail
  if (!answer.ok || claimTemplate === null || claims === null) return
  rememberListing('')
  const { claim } = answer.body
  const card = createClaimCard(claimTemplate, claim)
  const old = [...claims.children].find(
    (child) => child instanceof HTMLElement && child.dataset.claimId === claim.id,
  )
  old?.remove()
  claims.prepend(card)
  showInstructions(card, answer.body)
  const none = find('[data-no-claims]')
  if (none !== null) none.hidden = true
}

async function showAnalytics(): Promise<void> {
  const answer = await callSellers<Analytics>('GET', 'me/analytics')
  const template = find<HTMLTemplateElement>('template[data-stats]')
  const list = find('[data-listings]')
  if (!answer.ok || template === null || list === null || answer.body.basic.listings.length === 0)
    return
  const today = new Date()
  list.replaceChildren(
    ...answer.body.basic.listings.map(({ listing_id, clicks, calls, search_impressions }) => {
      const card = document.importNode(template.content, true)
      const link = card.querySelector<HTMLAnchorElement>('[data-listing]')
      if (link !== null) {
        link.href = `/listing/${listing_id}`
        link.textContent = listing_id
      }
      setText(card, '[data-total]', `${clicks.total} clicks`)
      card.querySelector('[data-plot]')?.append(createClicksPlot(clicks.by_day, PLOT_DAYS, today))
      const sources = Object.entries(clicks.by_src).map(([src, count]) => `${count} from ${src}`)
      const seen =
        search_impressions === undefined ? [] : [`shown in ${search_impressions} searches`]
      setText(card, '[data-sources]', [...sources, `${calls} relayed calls`, ...seen].join(' · '))
      return card
    }),
  )
  reveal('[data-analytics]')
}

async function signOut(): Promise<void> {
  await callSellers('DELETE', 'session')
  rememberSession(false)
  location.assign('/sellers')
}

function showProblem(status: number, detail: string): void {
  if (account !== null) account.textContent = ''
  if (status === 401) {
    rememberSession(false)
    reveal('[data-signed-out]')
    return
  }
  const problem = find('[data-problem]')
  if (problem !== null) problem.textContent = detail
  reveal('[data-problem]')
}

function reveal(selector: string): void {
  const element = find(selector)
  if (element !== null) element.hidden = false
}

function setText(card: DocumentFragment, selector: string, text: string): void {
  const element = card.querySelector(selector)
  if (element !== null) element.textContent = text
}
