import { BADGE_TEXTS } from '../../../domain/derived/tiers.ts'
import { reportPath } from '../../../domain/reports/report.ts'
import type { ListingView } from '../../../domain/views/listing-view.ts'
import type { ClaimView, KnownPayout } from '../../../domain/views/seller-views.ts'
import type { TiersView } from '../../../domain/views/summary-view.ts'
import { badgePath, pagePath, toEditUrl } from '../../../domain/wire/links.ts'
import { KIND_LABELS } from '../../../domain/wire/vocabulary.ts'
import { escapeHtml, html, type Markup } from '../../frame/html.ts'
import { toCopyBlock, toLinkedText } from '../../frame/sentences.ts'
import { toKnownList } from '../../listing/known-facts.ts'
import { toShape, toTile } from '../../rows/tile.ts'
import { showClaimSight } from '../controls/check-box.ts'
import { onClick, partOf, toElement } from '../controls/elements.ts'
import { callSellers } from '../controls/seller-api.ts'
import { PAYOUTS_PANEL, showPayouts } from '../payouts/payout-list.ts'
import { type Numbers, toClicksPanel, toNumbers } from './listing-numbers.ts'
import { toNextSteps } from './next-steps.ts'
import { toDeliveriesPanel } from './seen-deliveries.ts'

export interface OwnedListing {
  claim: ClaimView
  /** Null when the directory does not have it, as after a removal. */
  view: ListingView | null
  payouts: readonly KnownPayout[]
  numbers: Numbers | null
  /** Where the file of a listing is edited; empty without a repository. */
  edit: string
}

/** A listing that is the seller's own: what it is doing, what it lacks, and what can be done with it. */
export function createOwnedListing(owned: OwnedListing): HTMLElement {
  const { claim, view, payouts } = owned
  const card = toElement(toCard(owned))
  showClaimSight(partOf(card, 'result'), claim)
  if (view !== null) showPayouts(partOf(card, 'payouts'), claim.listing_id, payouts)
  showRemoval(card, claim.listing_id, view === null)
  return card
}

function toCard({ claim, view, payouts, numbers, edit }: OwnedListing): Markup {
  const id = claim.listing_id
  const name = view?.name ?? id
  const steps = toNextSteps(view, { payouts, lastCheck: claim.last_check }).map(
    ({ isKnown, text }) => ({ isKnown, text: toLinkedText(text) }),
  )
  return html`
    <section class="owned" aria-label="${name}">
      <header class="owned-head">
        ${view === null ? html`<span aria-hidden="true"></span>` : toTile(view)}
        <div>
          <p class="listing-meta">${view && toMeta(view)}</p>
          <h2><a href="${pagePath(id)}">${name}</a></h2>
        </div>
        ${view && toHeadButtons(view, edit)}
      </header>
      ${toNumbers(numbers, view)}
      <div class="owned-columns">
        <div>${numbers && toClicksPanel(numbers)}${numbers && toDeliveriesPanel(numbers)}${view && PAYOUTS_PANEL}${view && toBadge(view)}</div>
        <div>
          <section class="panel"><h3>What happens next</h3>${toKnownList(steps)}</section>
          <section class="panel">
            <h3>Proof of the domain</h3>
            <div class="saw" data-result><p class="small">Not looked at again yet.</p></div>
          </section>
          <section class="panel">
            <h3>In the directory</h3>
            <p class="buttons">
              <button type="button" data-remove>Remove this listing</button>
              <button type="button" data-restore hidden>Bring it back</button>
            </p>
            <p class="small soft" role="status" data-removal></p>
          </section>
        </div>
      </div>
    </section>`
}

function toMeta({ kind, badges }: ListingView): Markup {
  const earned = badges.filter((badge) => badge !== 'unclaimed')
  const tags = earned.map(
    (badge) => html`<span class="tag earned">${BADGE_TEXTS[badge].label}</span>`,
  )
  return html`<span class="kind ${toShape(kind)}">${KIND_LABELS[kind]}</span>${tags}`
}

/** Without a repository's address the words go to the person who keeps the listing. */
function toHeadButtons({ id, url }: ListingView, edit: string): Markup {
  const file = edit === '' ? reportPath('wrong', id) : toEditUrl(edit, id)
  return html`
    <p class="buttons">
      <a class="button" href="${file}" rel="nofollow noopener">Correct this listing</a>
      <a class="button" href="/sellers/check?${String(new URLSearchParams({ url }))}">Check the address</a>
      <a class="button" href="/watch?${String(new URLSearchParams({ listing: id }))}">Be told of its changes</a>
    </p>`
}

/** The badge as it is drawn now, and how to show it elsewhere. */
function toBadge({ id, name, tiers }: ListingView): Markup {
  const forms = toBadgeEmbeds(tiers).map(
    ({ label, code }, index) => html`
      <details ${index === 0 && 'open'}><summary>${label}</summary>
        ${toCopyBlock(code, `badge of ${id} as ${label}`)}</details>`,
  )
  return html`
    <section class="panel badge-panel" data-badge><h3>Badge</h3>
      <p><img src="${badgePath(id)}" alt="Badge of ${name}" height="20"></p>${forms}</section>`
}

/**
 * The badge of a listing, ready to paste, in the three languages that READMEs are written in. A name
 * is foreign text: in none of them may it become markup.
 */
export function toBadgeEmbeds({
  badge_svg,
  page,
  embed_markdown,
}: Pick<TiersView, 'badge_svg' | 'page' | 'embed_markdown'>): { label: string; code: string }[] {
  // The Markdown has the words of the image already.
  const end = `](${badge_svg})](${page})`.length
  const alt = embed_markdown.slice('[!['.length, -end).replace(/\\(.)/gs, '$1')
  return [
    { label: 'Markdown', code: embed_markdown },
    {
      label: 'HTML',
      code: `<a href="${page}"><img src="${badge_svg}" alt="${escapeHtml(alt)}" height="20"></a>`,
    },
    {
      label: 'reStructuredText',
      // An option's value is plain text to docutils as long as it stays on its line.
      code: `.. image:: ${badge_svg}\n   :target: ${page}\n   :alt: ${alt.replace(/\s+/g, ' ')}`,
    },
  ]
}

/** A removal is asked for twice; it can be taken back at any time. */
function showRemoval(card: HTMLElement, id: string, isRemoved: boolean): void {
  const [remove, restore] = [partOf(card, 'remove'), partOf(card, 'restore')]
  const note = partOf(card, 'removal')
  const show = (removed: boolean) => {
    remove.hidden = removed
    remove.textContent = 'Remove this listing'
    restore.hidden = !removed
  }
  const send = async (removed: boolean) => {
    const answer = await callSellers('POST', 'opt-out', { listing_id: id, removed })
    if (answer.ok) show(removed)
    note.textContent = answer.ok ? toNote(removed) : answer.detail
  }
  show(isRemoved)
  if (isRemoved) note.textContent = 'This listing is not in the directory.'
  let isAsked = false
  onClick(card, 'remove', async () => {
    isAsked = !isAsked
    if (isAsked) remove.textContent = 'Yes, remove it'
    else await send(true)
  })
  onClick(card, 'restore', () => send(false))
}

function toNote(removed: boolean): string {
  return removed
    ? 'It leaves the directory at the next build, and importers do not bring it back.'
    : 'It stays in the directory, or returns to it at the next build.'
}
