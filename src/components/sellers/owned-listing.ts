import { BADGE_TEXTS, TIER_LABELS } from '../../domain/derived/derived-listing.ts'
import { toCountText } from '../../domain/operation/price-text.ts'
import { reportPath } from '../../domain/reports/report.ts'
import { toKnownSentence } from '../../domain/views/known-view.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'
import type { ListingNumbers, OwnedListing, Said } from '../../domain/views/seller-pages.ts'
import type { ClaimCheckResult, KnownPayout, OwnClaim } from '../../domain/views/seller-views.ts'
import type { TiersView } from '../../domain/views/summary-view.ts'
import { badgePath, pagePath, receiptPath, toEditUrl } from '../../domain/wire/links.ts'
import { KIND_LABELS, VERDICT_WORDS } from '../../domain/wire/vocabulary.ts'
import { escapeHtml, html, type Markup } from '../frame/html.ts'
import { toCopyBlock, toLinkedText } from '../frame/sentences.ts'
import { type KnownFact, known, toKnownList } from '../listing/known-facts.ts'
import { toShape, toTile } from '../rows/tile.ts'
import { toClaimSight, toForm, toLine, toTime } from './claim-cards.ts'
import { toPayoutsPanel } from './payout-list.ts'

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
          <section class="panel"><h3>What happens next</h3>${view && html`<p class="small">${toKnownSentence(view.known)}</p>`}${toKnownList(steps)}</section>
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
  const when = isHere
    ? 'It leaves the directory with the next build, and importers do not bring it back.'
    : 'It is not in the directory.'
  return html`
    <p>You removed it on ${toTime(removal.since)}. ${when}</p>
    ${toForm('opt_out', target, html`<button>${isHere ? 'Keep it listed' : 'Bring it back'}</button>`)}`
}

type Standing = Pick<ListingView, 'status' | 'tiers'>

interface OwnFacts {
  payouts: readonly Pick<KnownPayout, 'proven_at'>[]
  lastCheck: Pick<ClaimCheckResult, 'verified'> | undefined
}

/**
 * Status of a verified claim, and the remaining steps. The directory is compiled: a proof of a
 * minute ago shows after the next build.
 *
 * @param view the listing as it is published; null when it is not in the directory
 */
export function toNextSteps(view: Standing | null, { payouts, lastCheck }: OwnFacts): KnownFact[] {
  const proof = known(
    lastCheck?.verified !== false,
    'The domain is proven. Leave the proof in place: we check it every day and mail you if it is gone.',
    'Put the domain proof back. We check it every day, and the claim ends after a week without it.',
  )
  if (view === null) return [proof]
  return [
    proof,
    known(
      view.status === 'claimed',
      'The listing shows as claimed.',
      'The listing shows as claimed after the next build.',
    ),
    ...toTiers(view),
    known(
      payouts.some(({ proven_at }) => proven_at !== undefined),
      'A payout address is proven. Nobody else can claim it.',
      'Prove a payout address, so that its payments count for you.',
    ),
  ]
}

function toTiers({ status, tiers }: Standing): KnownFact[] {
  const earned = tiers.earned.map((id) => known(true, `${TIER_LABELS[id]} is earned.`, ''))
  const missing = tiers.not_yet
    // Its reason is a missing claim, which is outdated after the next build.
    .filter(({ id }) => id !== 'verified' || status === 'claimed')
    .map(({ id, reason }) => known(false, '', `${TIER_LABELS[id]}: ${reason}.`))
  return [...earned, ...missing]
}

const DAY = 86_400_000
const HEIGHT = 100
const STEP = 10
/** A day with one click is still visible next to a day with hundreds. */
const LOWEST_BAR = 3
const PLOT_DAYS = 30

/**
 * Clicks, searches, calls and the score of an owned listing. Unknown is not shown as zero.
 *
 * @param now milliseconds since the epoch
 */
export function toNumbers(
  numbers: ListingNumbers | null,
  view: Pick<ListingView, 'page' | 'trust'> | null,
  now: number,
): Markup {
  const clicks = numbers && toClicks(numbers, now)
  const counted = clicks && [
    toNumber(`Clicks, ${PLOT_DAYS} days`, clicks.total, clicks.change),
    toNumber(`Shown in searches, ${PLOT_DAYS} days`, numbers.last_30_days.search_impressions),
    toNumber(`Calls relayed, ${PLOT_DAYS} days`, numbers.last_30_days.calls),
  ]
  const why = view && html`<a href="${view.page}">why</a>`
  const trust = view && toNumber('Trust', view.trust.score ?? 'unmeasured', why)
  return html`<dl class="numbers">${counted}${trust}</dl>`
}

function toNumber(label: string, value: string | number, note: Markup | string | null = '') {
  const small = note !== '' && html`<dd class="number-note">${note}</dd>`
  return html`<div><dt>${label}</dt><dd class="number">${value}</dd>${small}</div>`
}

/** Clicks by day as bars, with a sentence that says the same, and then each day's number. */
export function toClicksPanel(numbers: ListingNumbers, now: number): Markup {
  const { by_day, by_src, total } = numbers.clicks
  const clicks = toClicks(numbers, now)
  const [first, last] = [clicks.days[0], clicks.days.at(-1)]
  const axis = html`<p class="axis"><span>${first?.date}</span><span>${last?.date}</span></p>`
  const days = by_day.filter(({ clicks }) => clicks > 0).reverse()
  const rows = days.map(
    ({ date, clicks }) => html`<tr><th scope="row">${date}</th><td>${clicks}</td></tr>`,
  )
  const table = html`
    <details><summary>By day, 90 days</summary>
      <table class="day-table">
        <thead><tr><th scope="col">Day</th><th scope="col">Clicks</th></tr></thead>
        <tbody>${rows}</tbody></table></details>`
  return html`
    <section class="panel"><h3>Clicks by day</h3>
      ${clicks.total > 0 && [toPlot(clicks), axis]}
      <p class="small">${clicks.sentence} ${toSourcesText(by_src)}</p>
      ${total > 0 && table}</section>`
}

function toClicks({ clicks }: ListingNumbers, now: number) {
  return toClicksByDay(clicks.by_day, PLOT_DAYS, now)
}

function toPlot({ days, highest, sentence }: ReturnType<typeof toClicks>): Markup {
  const width = days.length * STEP
  const lines = [0.5, HEIGHT / 2, HEIGHT - 0.5].map(
    (y) => html`<line x1="0" x2="${width}" y1="${y}" y2="${y}"/>`,
  )
  const bars = days.map(({ date, clicks }, index) => {
    const height = Math.max(LOWEST_BAR, (clicks / highest) * HEIGHT)
    const place = html`x="${index * STEP + 1}" y="${HEIGHT - height}"`
    const size = html`width="${STEP - 2}" height="${height}"`
    return clicks > 0 && html`<rect ${place} ${size}><title>${date}: ${clicks}</title></rect>`
  })
  return html`
    <svg class="plot" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${sentence}">
      ${lines}${bars}</svg>`
}

/**
 * The clicks of the last days, ready to draw and to read.
 *
 * @param length days that are shown; as many before them are compared
 * @param today milliseconds since the epoch; the last day of the plot (UTC)
 */
export function toClicksByDay(
  by_day: ListingNumbers['clicks']['by_day'],
  length: number,
  today: number,
) {
  const counts = new Map(by_day.map(({ date, clicks }) => [date, clicks]))
  const all = Array.from({ length: 2 * length }, (_, index) => {
    const date = toDate(today - (2 * length - 1 - index) * DAY)
    return { date, clicks: counts.get(date) ?? 0 }
  })
  const days = all.slice(length)
  const total = sumOf(days)
  const before = sumOf(all.slice(0, length))
  const top = days.reduce((best, day) => (day.clicks > best.clicks ? day : best))
  return {
    /** One for each day (UTC), oldest first; days without a click are there with 0. */
    days,
    total,
    highest: top.clicks,
    /** The same in words, for those who don't see the plot. */
    sentence:
      total === 0
        ? `No clicks in ${length} days.`
        : `${toCountText(total, 'click')} in ${length} days, most on ${top.date}: ${top.clicks}.`,
    /** Compared with as many days before; empty where there were none. */
    change: before === 0 ? '' : `${toPercent(total / before - 1)} on the ${length} days before`,
  }
}

const SOURCES: Readonly<Record<string, string>> = {
  web: 'these pages',
  api: 'the API',
  mcp: 'MCP clients',
  a2a: 'A2A agents',
  unknown: 'elsewhere',
}

/** With its own period: the bars beside it show fewer days. @example toSourcesText({ web: 12, api: 3 }) → '15 in 90 days: these pages 12, the API 3.' */
export function toSourcesText(bySource: ListingNumbers['clicks']['by_src']): string {
  const named = Object.entries(bySource)
    .filter((entry): entry is [string, number] => (entry[1] ?? 0) > 0)
    .sort((a, b) => b[1] - a[1])
    .map(([source, clicks]) => `${SOURCES[source] ?? source} ${clicks}`)
  const total = Object.values(bySource).reduce((sum: number, clicks) => sum + (clicks ?? 0), 0)
  return named.length === 0 ? '' : `${total} in 90 days: ${named.join(', ')}.`
}

function sumOf(days: readonly { clicks: number }[]): number {
  return days.reduce((sum, { clicks }) => sum + clicks, 0)
}

function toDate(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10)
}

/** With a real minus sign, not a hyphen. */
function toPercent(share: number): string {
  const percent = Math.round(share * 100)
  return `${percent < 0 ? '−' : '+'}${Math.abs(percent)} %`
}

type Delivery = ListingNumbers['deliveries'][number]

const DISPUTES: Record<NonNullable<Delivery['dispute']>, string> = {
  waiting: 'Disputed; a person looks at it.',
  accepted: 'Disputed and withdrawn: it does not count.',
  refused: 'Disputed; the verdict holds.',
}

/** Each judged paid call, newest first, with the reason; a verdict can be disputed. */
export function toDeliveriesPanel({ deliveries }: ListingNumbers): Markup {
  const bad = deliveries.filter(({ verdict }) => verdict !== 'as_declared').length
  const rest = bad === 0 ? 'all were' : `${bad} ${bad === 1 ? 'was' : 'were'} not`
  const summary =
    deliveries.length === 0
      ? 'No paid call through the relay was judged yet.'
      : `Of the last ${toCountText(deliveries.length, 'paid call')}, ${rest} answered as declared.`
  const rows = deliveries.map(toRow)
  return html`
    <section class="panel"><h3>What came back for payments</h3>
      <p class="small">${summary} <a href="/trust#deliveries">How this is judged</a></p>
      ${deliveries.length > 0 && html`<details ${bad > 0 && 'open'}><summary>Each call</summary><ul class="deliveries">${rows}</ul></details>`}
    </section>`
}

function toRow({ id, at, call, verdict, reason, dispute }: Delivery): Markup {
  const words = VERDICT_WORDS[verdict]
  const about = html`<a href="${reportPath('dispute', id)}">Dispute this verdict</a>`
  const said = dispute !== undefined && ` ${DISPUTES[dispute]}`
  // Anybody may have disputed it, and badly: the seller can still do so until it is withdrawn.
  const next = verdict !== 'as_declared' && dispute !== 'accepted' && about
  return html`
    <li>
      <p><a href="${receiptPath(id)}">${toTime(at)}</a> <code dir="ltr">${call}</code></p>
      <p>It was <strong>${words}</strong>. ${reason}${said} ${next}</p>
    </li>`
}
