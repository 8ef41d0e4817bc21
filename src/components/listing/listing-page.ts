import type { Compiled, CompiledListing } from '../../compiled.ts'
import type { Switches } from '../../domain/derived/tables.ts'
import { chargeOf, railsOf } from '../../domain/listing/pricing.ts'
import { SESSIONS_NOT_COUNTED } from '../../domain/trust/payments.ts'
import { toDay, toKnownSentence } from '../../domain/views/known-view.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'
import type { SourcesView } from '../../domain/views/reference-views.ts'
import { CALL_PREFIX } from '../../domain/wire/links.ts'

const MAX_SIMILAR = 6

/** Writes 'a, b and c'. Shared, because making a formatter takes longer than rendering a section. */
const AND_LIST = new Intl.ListFormat('en-GB')

/** Everything that a listing's page prints: nothing else can change the page. */
export type ListingPage = ReturnType<typeof toListingPage>

export function toListingPage(
  listing: CompiledListing,
  { site, byId }: Pick<Compiled, 'site' | 'byId'>,
) {
  const similar = listing.similar.flatMap((id) => byId.get(id) ?? []).slice(0, MAX_SIMILAR)
  return {
    listing,
    /** Similar listings, best first; a getter, because a build renders only a few pages. */
    get similar() {
      return similar.map(({ brief }) => brief)
    },
    /** The listing's categories, in the directory's order. */
    get categories() {
      return site.categories.categories
        .filter(({ id }) => listing.view.categories.includes(id))
        .map(({ id, name }) => ({ id, name }))
    },
    get sources() {
      return toSourceLines(listing.view, site.sources.sources)
    },
    /** What the page is made from, except tables; listings are represented by their keys. */
    madeFrom: [listing.key, similar.map(({ key }) => key)],
  }
}

/** A source of a listing's facts, as one line on its page. */
export type SourceLine = ReturnType<typeof toSourceLines>[number]

/**
 * Each source of a listing's facts once, with its required attribution. The source of payment
 * figures is named next to them.
 */
export function toSourceLines(
  { sources }: Pick<ListingView, 'sources'>,
  table: Pick<SourcesView, 'sources'>['sources'],
) {
  const known = new Map(table.map((row) => [row.id, row]))
  const first = new Map(sources.toReversed().map((row) => [row.source, row]))
  const ids = [...new Set(sources.map(({ source }) => source))]
  return ids.map((id) => {
    const row = known.get(id)
    const text = row === undefined ? id : row.attribution || row.name
    const license = row?.license ?? ''
    const [short = ''] = license.split(' (')
    return {
      id,
      name: row?.name ?? id,
      text,
      href: first.get(id)?.ref ?? '',
      /** The source's licence; empty if the text already names it. */
      license: short !== '' && text.includes(short) ? '' : license,
      /** The facts that the listing has from this source; empty if people wrote all of them. */
      says: toSaysText(first.get(id) ?? {}),
    }
  })
}

/** Names on pages for facts whose names in JSON are different. */
const FACT_WORDS: Readonly<Record<string, string>> = {
  url: 'address',
  summary: 'description',
  pricing: 'price',
  auth: 'keys',
  http: 'operations',
  invoke: 'ways to connect',
  registry_name: 'registry name',
  discovery: 'files',
}

/** @example toSaysText({ says: ['pricing', 'http'] }) → 'From it: price, operations.' */
function toSaysText({
  says = [],
  at,
}: Pick<ListingView['sources'][number], 'says' | 'at'>): string {
  if (says.length === 0) return ''
  const read = at === undefined ? '' : `, read on ${toDay(at, 'short')}`
  return `From it: ${says.map((fact) => FACT_WORDS[fact] ?? fact).join(', ')}${read}.`
}

/** JSON-LD for a listing's page (schema.org). Foreign text: print it with `toScriptJson` only. */
export function toListingStructuredData(view: ListingView, baseUrl: string) {
  const page = `${baseUrl}${view.page}`
  const { pricing } = view
  return {
    '@context': 'https://schema.org',
    '@type': view.kind === 'http_api' ? 'WebAPI' : 'SoftwareApplication',
    '@id': page,
    name: view.name,
    description: view.summary,
    url: page,
    sameAs: view.url,
    ...(view.tags.length > 0 && { keywords: view.tags.join(', ') }),
    ...(view.kind !== 'http_api' && { applicationCategory: 'DeveloperApplication' }),
    ...(view.discovery?.openapi !== undefined && { documentation: view.discovery.openapi }),
    ...(pricing.model === 'per_call' && {
      offers: {
        '@type': 'AggregateOffer',
        priceCurrency: 'USD',
        lowPrice: pricing.min_usd,
        highPrice: pricing.max_usd,
      },
    }),
  }
}

/**
 * Who owns a listing, whether it answers and who paid, as one sentence; then what is not known
 * about calling it.
 */
export function toStatusText(
  view: ListingView,
  calls: { title: string; total: number } | null,
  switches: Pick<Switches, 'sellers' | 'payments'>,
): string {
  const { payments } = switches
  const open = [
    calls === null && view.kind !== 'kit' && 'what it can do in detail',
    // Of a service that is paid by its 402, the price's cell says so.
    payments && chargeOf(view) === 'unknown' && view.auth.type !== 'payment' && 'what it costs',
    view.auth.type === 'unknown' && 'how callers sign in',
  ].filter((text) => text !== false)
  const sentences = [
    toKnownSentence(view.known, switches),
    open.length > 0 && `Not known yet: ${AND_LIST.format(open)}.`,
  ]
  return sentences.filter((text) => text !== false && text !== '').join(' ')
}

const CONNECT_NOTES = {
  mcp_server: 'A command runs in a terminal; the rest goes into the file of the client you use.',
  a2a_agent: 'Send it a message from your own code.',
  kit: 'Run it where your agent works: it puts the folder where that agent looks for skills.',
}

/** Notes next to a call's code. @param reason why the relay cannot call the listing */
export function toCallNote(
  { kind, pricing }: Pick<ListingView, 'kind' | 'pricing'>,
  { code, reason }: { code: string; reason: string | null },
  { payments, trust }: Pick<Switches, 'payments' | 'trust'>,
): string {
  if (kind !== 'http_api') return CONNECT_NOTES[kind]
  const isOnOtherRail = code.includes('Authorization: Payment') && railsOf(pricing).includes('x402')
  const sentences =
    payments && code.includes(CALL_PREFIX)
      ? ['Through the relay: your wallet pays the seller directly, and nobody takes a fee.']
      : [
          'You call the service directly.',
          payments && pricing.model === 'per_call' && reason,
          payments &&
            isOnOtherRail &&
            'This call is paid by MPP; the list says which are sold by x402.',
        ]
  const isUncounted = trust && railsOf(pricing).includes('mpp')
  return [...sentences, isUncounted && SESSIONS_NOT_COUNTED].filter(Boolean).join(' ')
}
