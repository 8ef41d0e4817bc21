import { TIER_LABELS, TIER_REASONS } from '../../domain/derived/derived-listing.ts'
import { toNetworkName } from '../../domain/listing/networks.ts'
import { toCountText, toUsd } from '../../domain/listing/pricing.ts'
import { toDay } from '../../domain/views/known-view.ts'
import type { ListingView, TiersView } from '../../domain/views/listing-view.ts'
import type { ClaimView, KnownPayout, ListingNumbers } from '../../domain/views/seller-views.ts'
import { escapeHtml } from '../../domain/wire/escape.ts'
import type { ClaimMethod } from '../../domain/wire/vocabulary.ts'
import { toDates } from '../evidence/evidence-words.ts'
import { OUTCOME_WORDS } from '../rows/decision-facts.ts'

/** The methods for proving a claim, for sellers. */
export const CLAIM_METHOD_TEXTS: Record<
  ClaimMethod,
  { label: string; instead: string; text: string }
> = {
  well_known: {
    label: 'A file on your host',
    instead: 'a file',
    text: 'Put a token into a text file under /.well-known/ on the host of the listing.',
  },
  dns_txt: {
    label: 'A DNS record',
    instead: 'a DNS record',
    text: 'Publish the token in a TXT record under the host of the listing.',
  },
  contact_email: {
    label: 'An address at your domain',
    instead: 'an email address',
    text: 'You sign in with an email address at the domain of the listing, and need nothing else.',
  },
  oidc: {
    label: 'A workflow of your repository',
    instead: 'a workflow',
    text: 'For a listing on GitHub or GitHub Pages: a workflow of the repository sends its identity token.',
  },
}

/**
 * A listing's badge, ready to paste, in the three languages in which READMEs are written. A name is
 * foreign text, and must not become markup in any of them.
 */
export function toBadgeEmbeds({
  badge_svg,
  page,
  embed_markdown,
}: Pick<TiersView, 'badge_svg' | 'page' | 'embed_markdown'>): { label: string; code: string }[] {
  // The Markdown already has the image's alt text.
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

/** The result of the last check of a claim's proof. */
export function toSightTitle({ last_check, state }: Pick<ClaimView, 'last_check' | 'state'>) {
  if (last_check?.verified === true) return 'Proven: this listing is yours.'
  return state === 'verified' ? 'The proof is gone.' : 'Not proven yet.'
}

/** Names what is missing exactly: the seller knows of its sales to other buyers, and what it answers. */
const EXACT_REASONS: Readonly<Record<string, string>> = {
  [TIER_REASONS.noSales]: 'no sales yet to buyers whom an independent seller vouches for',
  [TIER_REASONS.notLiveTested]:
    'needs the Live-Tested badge, so three good probes in a row, over at least 24 hours',
}

type Published = Pick<ListingView, 'status' | 'tiers'>

/** What a verified claim has brought, and the tiers still missing. A new proof shows after the next build. */
export function toNextSteps({ status, tiers }: Published) {
  const isShown = status === 'claimed'
  const missing = tiers.not_yet
    // Until the next build, Verified is missing only because the published listing has no claim yet.
    .filter(({ id }) => id !== 'verified' || isShown)
    .map(({ id, reason }) => ({
      isKnown: false,
      text: `${TIER_LABELS[id]}: ${EXACT_REASONS[reason] ?? reason}.`,
    }))
  return [
    {
      isKnown: isShown,
      text: `The listing shows as claimed${isShown ? '' : ' after the next build'}.`,
    },
    ...tiers.earned.map((id) => ({ isKnown: true, text: `${TIER_LABELS[id]} is earned.` })),
    ...missing,
  ]
}

/** For how many days clicks are drawn. */
export const PLOT_DAYS = 30

/**
 * An owned listing's clicks, searches, calls and score. Unknown is not shown as zero.
 * @param now milliseconds since the epoch
 */
export function toFigures(
  numbers: ListingNumbers | null,
  view: Pick<ListingView, 'trust'> | null,
  now: number,
) {
  const figure = (label: string, value: string | number, note = '') =>
    ({ label, value: value.toLocaleString('en'), note, tone: 'plain' }) as const
  const { score = null } = view?.trust ?? {}
  const measured = score === null ? figure('Trust', 'unmeasured') : figure('Trust', score, 'of 100')
  const trust = view === null ? [] : [measured]
  if (numbers === null) return trust
  const { total } = toClicksByDay(numbers.clicks.by_day, PLOT_DAYS, now)
  const { search_impressions, calls } = numbers.last_30_days
  return [
    figure('Clicks', total, `in ${PLOT_DAYS} days`),
    figure('Shown', search_impressions, `in searches of ${PLOT_DAYS} days`),
    figure('Calls answered', calls, `through our relay, in ${PLOT_DAYS} days`),
    ...trust,
  ]
}

/** The last probe of each operation, newest first. */
export function toProbedRows({ operations }: Pick<ListingView, 'operations'>) {
  const rows = operations.flatMap(({ method, url, seen }) => {
    if (seen === undefined) return []
    const { at, outcome, status, min_usd } = seen
    const requested = min_usd === undefined ? '' : `, asked ${toUsd(min_usd)}`
    const words = outcome === 'spoke' ? 'It answered' : OUTCOME_WORDS[outcome][0]
    const answered = status === undefined ? '' : `, status ${status}`
    return [{ at, call: `${method} ${url}`, saw: `${words}${answered}${requested}.` }]
  })
  return rows.sort((a, b) => (a.at < b.at ? 1 : -1)).slice(0, MOST_PROBED)
}

const MOST_PROBED = 6

/**
 * The clicks of the last days, ready to draw and to read.
 * @param today milliseconds since the epoch; the plot's last day (UTC)
 */
export function toClicksByDay(
  by_day: ListingNumbers['clicks']['by_day'],
  length: number,
  today: number,
) {
  const counts = new Map(by_day.map(({ date, clicks }) => [date, clicks]))
  const days = toDates(today, length).map((date) => ({ date, clicks: counts.get(date) ?? 0 }))
  const total = days.reduce((sum, { clicks }) => sum + clicks, 0)
  const top = days.reduce((best, day) => (day.clicks > best.clicks ? day : best))
  return {
    /** A count for each day (UTC), oldest first; 0 for days without clicks. */
    days,
    total,
    highest: top.clicks,
    /** The plot in words, for people who don't see it. */
    sentence:
      total === 0
        ? `No clicks in ${length} days.`
        : `${toCountText(total, 'click')} in ${length} days, at most ${top.clicks} a day, on ${toDay(top.date, 'short')}.`,
  }
}

const SOURCES: Readonly<Record<string, string>> = {
  web: 'these pages',
  api: 'the API',
  mcp: 'MCP clients',
  a2a: 'A2A agents',
  unknown: 'elsewhere',
}

/**
 * States its own period, because the bars next to it show fewer days.
 * @example toSourcesText({ web: 12, api: 3 }) → 'In 90 days 15: these pages 12, the API 3.'
 */
export function toSourcesText(bySource: ListingNumbers['clicks']['by_src']): string {
  const named = Object.entries(bySource)
    .filter((entry): entry is [string, number] => (entry[1] ?? 0) > 0)
    .sort((a, b) => b[1] - a[1])
    .map(([source, clicks]) => `${SOURCES[source] ?? source} ${clicks}`)
  const total = Object.values(bySource).reduce((sum: number, clicks) => sum + (clicks ?? 0), 0)
  return named.length === 0 ? '' : `In 90 days ${total.toLocaleString('en')}: ${named.join(', ')}.`
}

/** A stranger may have disputed the verdict badly, so the seller can still dispute it until it is withdrawn. */
export function isDisputable({ verdict, dispute }: ListingNumbers['deliveries'][number]): boolean {
  return verdict !== 'as_declared' && dispute !== 'accepted'
}

/** The results of the judged paid calls, in a sentence. */
export function toDeliveredSummary(deliveries: ListingNumbers['deliveries']): string {
  if (deliveries.length === 0) return 'No paid call through the relay has been judged yet.'
  const bad = deliveries.filter(({ verdict }) => verdict !== 'as_declared').length
  const rest = bad === 0 ? 'all were' : `${bad} ${bad === 1 ? 'was' : 'were'} not`
  return `Of the last ${toCountText(deliveries.length, 'paid call')}, ${rest} answered as declared.`
}

/** @example toPayoutFacts('eip155:8453:0x12…').network → 'Base' */
export function toPayoutFacts(payout: string) {
  const [family = '', chain = '', address = ''] = payout.split(':')
  const way = family === 'solana' ? 'solana' : 'evm'
  return { network: toNetworkName(`${family}:${chain}`), address, way } as const
}

/** A payout's state, in words. */
export function toPayoutState({ published, counts, proven_at }: KnownPayout) {
  if (proven_at !== undefined) {
    const when = counts ? '' : ' from the next build on'
    const explanation = `Payments to it count for this listing${when}.`
    return { tone: 'earned', label: `proven ${toDay(proven_at, 'short')}`, explanation }
  }
  if (published && !counts) return { tone: 'warn', label: 'contested', explanation: CONTESTED }
  return { tone: '', label: 'not proven', explanation: published ? UNCONTESTED : UNPUBLISHED }
}

const CONTESTED =
  'Listings on other domains name this address too. Payments to it do not count for any listing until its holder proves ownership.'
const UNCONTESTED =
  'Payments to this address count as long as nobody else names it. Once you prove it, the address is yours alone, and payments made without our relay can count too.'
const UNPUBLISHED =
  'The listing does not name this address. Once you prove it, payments to it count from the next build on.'
