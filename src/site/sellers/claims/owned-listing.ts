import { BADGE_TEXTS } from '../../../domain/derived/badges.ts'
import { correctionPath } from '../../../domain/proposals/proposal-answer.ts'
import type { ListingView } from '../../../domain/views/listing-view.ts'
import type { Analytics, ClaimView, KnownPayout } from '../../../domain/views/seller-views.ts'
import type { TiersView } from '../../../domain/views/tiers-view.ts'
import { badgePath, pagePath, toEditUrl } from '../../../domain/wire/links.ts'
import { KIND_LABELS } from '../../../domain/wire/vocabulary.ts'
import { toHue, toMonogram } from '../../rows/tile.ts'
import { showClaimSight } from '../controls/check-box.ts'
import {
  cloneTemplate,
  fill,
  make,
  makeCopyBlock,
  makeSentence,
  partOf,
} from '../controls/elements.ts'
import { callSellers } from '../controls/seller-api.ts'
import { showPayouts } from '../payouts/payout-list.ts'
import { showNumbers } from './listing-numbers.ts'
import { toNextSteps } from './next-steps.ts'

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

type Numbers = Analytics['basic']['listings'][number]

export interface OwnedListing {
  claim: ClaimView
  /** Null when the directory does not have it, as after a removal. */
  view: ListingView | null
  payouts: readonly KnownPayout[]
  numbers: Numbers | null
}

/** A listing that is the seller's own: what it is doing, what it lacks, and what can be done with it. */
export function createOwnedListing({ claim, view, payouts, numbers }: OwnedListing): HTMLElement {
  const card = cloneTemplate('owned')
  const id = claim.listing_id
  const name = view?.name ?? id
  card.ariaLabel = name
  const link = partOf<HTMLAnchorElement>(card, 'listing')
  link.href = pagePath(id)
  link.textContent = name
  partOf(card, 'head-buttons').hidden = view === null
  if (view !== null) {
    showHead(card, view)
    showBadge(card, view)
  }
  showNumbers(card, numbers, view)
  fill(
    partOf(card, 'next'),
    toNextSteps(view, { payouts, lastCheck: claim.last_check }).map(({ isDone, text }) =>
      make(
        'li',
        '',
        make('span', isDone ? 'dot' : 'dot missing'),
        make('span', '', makeSentence(text)),
      ),
    ),
  )
  showClaimSight(partOf(card, 'result'), claim)
  const panel = partOf(card, 'payouts')
  if (view === null) panel.hidden = true
  else showPayouts(panel, id, payouts)
  showRemoval(card, id, view === null)
  return card
}

function showHead(card: HTMLElement, { id, name, kind, url, badges }: ListingView): void {
  const shape = kind === 'kit' ? 'is-kit' : kind
  const tile = partOf(card, 'tile')
  tile.className = `tile ${shape} hue-${toHue(id)}`
  tile.textContent = toMonogram(name)
  const earned = badges.filter((badge) => badge !== 'unclaimed')
  const meta = partOf(card, 'meta')
  meta.append(make('span', `kind ${shape}`, KIND_LABELS[kind]))
  for (const badge of earned) meta.append(make('span', 'tag earned', BADGE_TEXTS[badge].label))
  const edit = partOf<HTMLAnchorElement>(card, 'edit')
  const file = edit.dataset.edit ?? ''
  // Without a repository's address the words go to the person who keeps the listing.
  edit.href = file === '' ? correctionPath(id) : toEditUrl(file, id)
  const check = partOf<HTMLAnchorElement>(card, 'probe')
  check.href = `/sellers/check?${new URLSearchParams({ url })}`
}

/** The badge as it is drawn now, and how to show it elsewhere. */
function showBadge(card: HTMLElement, { id, name, tiers }: ListingView): void {
  const badge = partOf(card, 'badge')
  const image = make('img', '')
  image.src = badgePath(id)
  image.alt = `Badge of ${name}`
  image.height = 20
  badge.append(make('p', '', image))
  toBadgeEmbeds(name, tiers).forEach(({ label, code }, index) => {
    const form = make('details', '', make('summary', '', label))
    form.open = index === 0
    form.append(makeCopyBlock(code, `badge of ${id} as ${label}`))
    badge.append(form)
  })
  badge.hidden = false
}

/** A badge, ready to paste into a page of one's own. */
interface BadgeEmbed {
  id: 'markdown' | 'html' | 'rst'
  label: string
  code: string
}

/**
 * The badge of a listing in the three languages that READMEs are written in. A name is foreign text:
 * in none of them may it become markup.
 */
export function toBadgeEmbeds(
  name: string,
  { badge_svg, page, embed_markdown }: Pick<TiersView, 'badge_svg' | 'page' | 'embed_markdown'>,
): BadgeEmbed[] {
  const alt = `${name} on ${new URL(page).hostname}`
  return [
    { id: 'markdown', label: 'Markdown', code: embed_markdown },
    {
      id: 'html',
      label: 'HTML',
      code: `<a href="${page}"><img src="${badge_svg}" alt="${escapeHtml(alt)}" height="20"></a>`,
    },
    {
      id: 'rst',
      label: 'reStructuredText',
      // An option's value is plain text to docutils as long as it stays on its line.
      code: `.. image:: ${badge_svg}\n   :target: ${page}\n   :alt: ${alt.replace(/\s+/g, ' ')}`,
    },
  ]
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character)
}

/** A removal is asked for twice; it can be taken back at any time. */
function showRemoval(card: HTMLElement, id: string, isRemoved: boolean): void {
  const remove = partOf<HTMLButtonElement>(card, 'remove')
  const restore = partOf<HTMLButtonElement>(card, 'restore')
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
  remove.addEventListener('click', () => {
    if (isAsked) void send(true)
    else remove.textContent = 'Yes, remove it'
    isAsked = !isAsked
  })
  restore.addEventListener('click', () => void send(false))
}

function toNote(removed: boolean): string {
  return removed
    ? 'It leaves the directory at the next build, and importers do not bring it back.'
    : 'It stays in the directory, or returns to it at the next build.'
}
