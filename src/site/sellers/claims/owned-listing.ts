import { BADGE_TEXTS } from '../../../domain/derived/tiers.ts'
import { reportPath } from '../../../domain/reports/report.ts'
import type { ListingView } from '../../../domain/views/listing-view.ts'
import type { OwnedListing, Said } from '../../../domain/views/seller-pages.ts'
import type { OwnClaim } from '../../../domain/views/seller-views.ts'
import type { TiersView } from '../../../domain/views/summary-view.ts'
import { badgePath, pagePath, toEditUrl } from '../../../domain/wire/links.ts'
import { KIND_LABELS } from '../../../domain/wire/vocabulary.ts'
import { escapeHtml, html, type Markup } from '../../frame/html.ts'
import { toCopyBlock, toLinkedText } from '../../frame/sentences.ts'
import { toKnownList } from '../../listing/known-facts.ts'
import { toShape, toTile } from '../../rows/tile.ts'
import { toClaimSight, toForm, toLine, toTime } from '../controls/said.ts'
import { toPayoutsPanel } from '../payouts/payout-list.ts'
import { toClicksPanel, toNumbers } from './listing-numbers.ts'
import { toNextSteps } from './next-steps.ts'
import { toDeliveriesPanel } from './seen-deliveries.ts'

/**
 * A seller's own listing: its figures, what it lacks, and possible actions.
 *
 * @param said outcome of the last form; shown if it is about this claim
 * @param edit where the file of a listing is edited; empty without a repository
 * @param now milliseconds since the epoch
 */
export function toOwnedListing(
  owned: OwnedListing,
  said: Said | null,
  { edit, now }: { edit: string; now: number },
): Markup {
  const { claim, view, payouts, numbers } = owned
  const id = claim.listing_id
  const name = view?.name ?? id
  const here = said?.at === claim.id ? said : null
  const steps = toNextSteps(view, { payouts, lastCheck: claim.last_check }).map(
    ({ isKnown, text }) => ({ isKnown, text: toLinkedText(text) }),
  )
  return html`
    <section class="owned" id="claim-${claim.id}" aria-label="${name}">
      <header class="owned-head">
        ${view === null ? html`<span aria-hidden="true"></span>` : toTile(view)}
        <div>
          <p class="listing-meta">${view && toMeta(view)}</p>
          <h2><a href="${pagePath(id)}">${name}</a></h2>
        </div>
        ${view && toHeadButtons(view, edit)}
      </header>
      ${toNumbers(numbers, view, now)}
      <div class="owned-columns">
        <div>${numbers && toClicksPanel(numbers, now)}${numbers && toDeliveriesPanel(numbers)}${view && toPayoutsPanel(owned, here)}${view && toBadge(view)}</div>
        <div>
          <section class="panel"><h3>What happens next</h3>${toKnownList(steps)}</section>
          <section class="panel">
            <h3>Proof of the domain</h3>
            ${toClaimSight(claim) || html`<p class="small">Not looked at again yet.</p>`}
          </section>
          <section class="panel">
            <h3>In the directory</h3>
            ${toRemoval(claim, view !== null)}
            ${here?.payout === undefined && toLine(here)}
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

/** Without a repository's address the text goes to the maintainer of the listing. */
function toHeadButtons({ id, url }: ListingView, edit: string): Markup {
  const file = edit === '' ? reportPath('wrong', id) : toEditUrl(edit, id)
  return html`
    <p class="buttons">
      <a class="button" href="${file}" rel="nofollow noopener">Correct this listing</a>
      <a class="button" href="/sellers/check?${String(new URLSearchParams({ url }))}">Check the address</a>
    </p>`
}

/** The current badge, and how to embed it elsewhere. */
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
  // The Markdown already has the alt text of the image.
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
function toRemoval({ id, listing_id, removal }: OwnClaim, isHere: boolean): Markup {
  const target = { claim: id, listing_id }
  const remove = { ...target, removed: 'yes' }
  if (removal === null && isHere)
    return html`
      <details><summary>Remove this listing</summary>
        ${toForm('opt_out', remove, html`<button>Yes, remove it</button>`)}</details>`
  if (removal === null)
    return html`<p class="small soft">It is not in the directory now. Unless it was withdrawn, it returns with the next build.</p>`
  return html`
    <p>You removed it on ${toTime(removal.since)}.
      ${isHere ? 'It leaves the directory with the next build, and importers do not bring it back.' : 'It is not in the directory.'}</p>
    ${toForm('opt_out', target, html`<button>${isHere ? 'Keep it listed' : 'Bring it back'}</button>`)}`
}
