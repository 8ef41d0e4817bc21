import { hash } from 'node:crypto'
import { readMoves, wordIn } from '../content/check.ts'
import { createListingParser, type ListingFile } from '../content/listing-file.ts'
import type { Content } from '../content/read.ts'
import { digestOf, recall } from '../content/recall.ts'
import { deriveListing, NO_PAYOUTS, type PayoutState } from '../domain/derived/derived-listing.ts'
import { createMarkFinder, type Tables } from '../domain/derived/tables.ts'
import type { ListingFacts } from '../domain/listing/listing-facts.ts'
import { followMoves, type Gone, type OptedOutListing } from '../domain/listing/listing-states.ts'
import { chainOf, normalizePayout } from '../domain/listing/networks.ts'
import { BASE_URL_PLACEHOLDER, type UrlRules } from '../domain/listing/target-url.ts'
import { combineEvidence, toDriftNotices } from '../domain/probe/merge.ts'
import { planProbe } from '../domain/probe/plan.ts'
import type { GoneServer } from '../domain/protocols/registry-entry.ts'
import { countDelivered } from '../domain/relay/delivered.ts'
import { type ClaimRules, GITHUB_ISSUER, hostOf } from '../domain/sellers/claim-rules.ts'
import { toDisputeNotice } from '../domain/sellers/report.ts'
import { splitByAge } from '../domain/trust/age.ts'
import type { Evidence, Notice } from '../domain/trust/evidence.ts'
import {
  type LedgerFacts,
  type LedgerPayment,
  type PaymentFacts,
  type TrustPayees,
  windowOf,
} from '../domain/trust/ledger-facts.ts'
import { type ListingScore, scoreListings } from '../domain/trust/score-listings.ts'
import { present } from '../domain/wire/json.ts'
import { hostAt, isClaimed, isOptedOut, readPayoutStates } from './payouts.ts'

/** How many payments a page shows for its listing; the published file has all. */
const SHOWN_PAYMENTS = 20

/** The content with everything derived from it; the input of every output. */
export type Catalogue = ReturnType<typeof createCatalogue>

interface CatalogueOptions {
  baseUrl: string
  rules: UrlRules
  /** `OIDC_ISSUER` */
  issuer?: string
  /** `AS_OF`, such as 2026-11-26 */
  asOf: string
  ledger: LedgerFacts
}

export function createCatalogue(
  content: Content,
  { baseUrl, rules, issuer = GITHUB_ISSUER, asOf, ledger }: CatalogueOptions,
) {
  const tables = placeTables(content.tables, baseUrl)
  const { stated } = content
  const files = readListed(content, ledger, baseUrl)
  const states = readPayoutStates(content, ledger, baseUrl)
  const judged = judgeSales(files, ledger, tables)
  const delivered = countDelivered(ledger.judgedCalls, ledger.payments, judged.listings)
  const evidenceOf = createEvidenceReader(content, ledger)
  const paid = findNewest(ledger)
  const findMark = createMarkFinder(tables.marks)
  const isPaid = createPaidLookup(ledger)
  const inputs = files.map((file) => {
    const { id, digest } = file
    const { current: evidence, past } = splitByAge(
      combineEvidence(evidenceOf(id), ledger.probed.get(id)),
      asOf,
      content.pastPrices.get(id),
    )
    const state = states.get(id) ?? NO_PAYOUTS
    const known = {
      id,
      evidence,
      past,
      mark: findMark(file.facts.url),
      own: toOwn(judged.listings.get(id)),
      isClaimed: isClaimed(file, ledger, baseUrl),
      provedAt: ledger.provedAt.get(id),
      delivered: delivered.get(id),
      notices: [
        ...toPayoutNotices(file, evidence, state),
        ...toDrifted(file, evidence, state, isPaid),
        ...toDisputeNotice(ledger.disputes.get(id) ?? []),
      ],
      payouts: state,
    }
    // A score fades each day; other facts change with the day only when they become too old.
    const day = evidence.measured === undefined ? null : asOf
    const read = [digest, known, stated.get(id), paid.get(id), day]
    const key = hash('sha256', JSON.stringify(read))
    return { ...known, facts: file.facts, description: file.description, key }
  })
  const context = { rules, baseUrl, directory: tables.site.short_name, asOf, tasks: tables.tasks }
  const ofTables = digestOf(tables)
  const listings = inputs.map((input) =>
    recall(`listing ${input.id}`, input.key + ofTables, () => deriveListing(input, context)),
  )
  const optedOut = content.listings.filter((file) => isOptedOut(file, ledger, baseUrl))
  const gone = toGone(content, { files, optedOut, moved: ledger.moved, baseUrl })
  const claimRules: ClaimRules = { ...rules, sharedHosts: tables.sharedHosts, issuer }
  return {
    ...{ baseUrl, listings, tables, stated, ledger, gone, claimRules },
    ...{ pages: content.pages, mark: content.mark, rowDays: content.rowDays },
    byId: new Map(listings.map((listing) => [listing.id, listing])),
    /** A digest for each listing, in order, of all that it and its views are made from, except tables and code. */
    keys: inputs.map(({ key }) => key),
    /** Listings whose seller requested removal; only sellers' routes still know them. */
    optedOut: optedOut.map((file) => toOptedOut(file, baseUrl)),
    /** How many of the operators known to be independent are measured. */
    measuredOperators: judged.measuredSeeds,
    /** Facts published alongside the payments. */
    trustPayees: toTrustPayees(ledger, judged.seeds),
    /** The window's newest payments by listing id, counted or not. */
    paid,
    sources: new Map(tables.sources.map((row) => [row.id, row])),
    goneServers: readGoneServers(gone, content, optedOut, rules),
  }
}

/** The listings whose owner has not opted out. */
function readListed(content: Content, ledger: LedgerFacts, baseUrl: string) {
  const files = content.listings.filter((file) => !isOptedOut(file, ledger, baseUrl))
  if (content.tables.site.switches.payments) return files
  return files.map((file) => ({ ...file, facts: withoutPrices(file.facts) }))
}

/** A listing's facts without what a call costs and who is paid, for a directory without payments. */
function withoutPrices({
  payout: _,
  payout_source: __,
  cost: ___,
  ...facts
}: ListingFacts): ListingFacts {
  return {
    ...facts,
    pricing: { model: 'unknown' },
    payout: [],
    auth: facts.auth.type === 'payment' ? { type: 'unknown' } : facts.auth,
    http: facts.http.map(({ price: _price, offers: _offers, ...operation }) => operation),
  }
}

function toOptedOut({ id, facts }: ListingFile, baseUrl: string): OptedOutListing {
  return { id, name: facts.name, url: facts.url.replace(BASE_URL_PLACEHOLDER, baseUrl) }
}

/** A listing that replaced another starts with the former listing's evidence. */
function createEvidenceReader({ evidence, tables }: Content, { moved }: LedgerFacts) {
  const former = new Map([...moved].map(([from, to]) => [to, from]))
  const keep = tables.site.switches.payments ? (whole: Evidence) => whole : withoutPayments
  return (id: string) => keep({ ...evidence.get(former.get(id) ?? ''), ...evidence.get(id) })
}

/** Counts of use that do not show payments. */
const UNPAID_USES: ReadonlySet<string> = new Set(['calls', 'downloads', 'stars'])

/** Evidence without the payments that others counted, for a directory without payments. */
function withoutPayments({ reported_use, ...evidence }: Evidence): Evidence {
  const kept = reported_use?.filter(({ what }) => UNPAID_USES.has(what))
  return { ...evidence, ...(kept !== undefined && kept.length > 0 && { reported_use: kept }) }
}

function toTrustPayees({ asOf, payees }: LedgerFacts, seeds: readonly string[]): TrustPayees {
  const as_of = asOf === 0 ? null : new Date(asOf).toISOString()
  return { as_of, seeds: [...seeds], payees: [...payees] }
}

/** Leaves out the individual buyers, because no page shows them. */
function toOwn(score: ListingScore | undefined) {
  return score && { measured: score.measured, sharers: score.sharers }
}

/** The seller's changes as of the last probe, because a build never uses the current time. */
function toDrifted(
  { id, facts }: ListingFile,
  { drift = [], interface: seen }: Evidence,
  { owned }: PayoutState,
  isPaid: (payout: string) => boolean,
): Notice[] {
  const [newest] = drift
  const declared = newest === undefined ? undefined : planProbe(id, facts)?.declared
  if (newest === undefined || declared === undefined) return []
  // An address that its owner proved is treated like one that the listing names.
  const known = { ...declared, payouts: [...declared.payouts, ...owned] }
  return toDriftNotices(drift, known, isPaid, seen?.at ?? newest.at)
}

interface Placed {
  files: readonly ListingFile[]
  optedOut: readonly ListingFile[]
  /** Moves announced by owners. */
  moved: ReadonlyMap<string, string>
  baseUrl: string
}

/** Listings with a tombstone, and those that owners removed themselves. */
function toGone({ tombstones }: Content, { files, optedOut, moved, baseUrl }: Placed): Gone[] {
  const moves = new Map([...moved, ...readMoves(tombstones)])
  const hosts = new Map(files.map((file) => [file.id, hostAt(file, baseUrl)]))
  const toMove = (id: string, host: string | null) => {
    const moved_to = followMoves(moves, id)
    if (moved_to === null || !hosts.has(moved_to)) return null
    const isElsewhere = hosts.get(moved_to) !== host
    return {
      reason: 'moved' as const,
      moved_to,
      ...(isElsewhere && { another_host: true as const }),
    }
  }
  const buried = [...tombstones.values()].map((tombstone): Gone => {
    const { id, at, replaced_by, listing } = tombstone
    const name = wordIn(listing, 'name') || undefined
    const url = wordIn(listing, 'url').replace(BASE_URL_PLACEHOLDER, baseUrl)
    const move = toMove(id, hostOf(url))
    if (move !== null) return { id, at, ...move }
    // The new id is gone too, because of its own tombstone or its owner's wish.
    const end = tombstones.get(followMoves(moves, id) ?? '')?.reason ?? 'opted_out'
    const reason = tombstone.reason === 'moved' ? end : tombstone.reason
    return { id, at, reason, ...present({ name, replaced_by }) }
  })
  const out = optedOut.map((file): Gone => {
    const { id, facts } = file
    const move = toMove(id, hostAt(file, baseUrl))
    return { id, at: null, ...(move ?? { reason: 'opted_out', name: facts.name }) }
  })
  return [...buried, ...out].sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Puts this directory's address into our own rows in the source table. */
function placeTables(tables: Tables, baseUrl: string): Tables {
  const sources = tables.sources.map((row) => ({
    ...row,
    url: row.url.replace('{base_url}', baseUrl),
  }))
  return { ...tables, sources }
}

/**
 * Removed MCP servers, whose names a registry's readers need in order to delete their copies. A tombstone
 * keeps the former file; if it does not, or the rules have changed since, only the id is known.
 */
function readGoneServers(
  gone: readonly Gone[],
  { tombstones, withdrawn }: Pick<Content, 'tombstones' | 'withdrawn'>,
  optedOut: readonly ListingFile[],
  rules: UrlRules,
): GoneServer[] {
  const parse = createListingParser(rules)
  const left = optedOut.map(({ id, facts }) => [id, facts] as const)
  const former = new Map([...withdrawn, ...left])
  return gone
    .filter(({ id }) => id.startsWith('mcp.'))
    .map((each) => {
      const { id } = each
      const text = tombstones.get(id)?.listing
      const buried = text === undefined ? undefined : parse({ id, file: id }, text).listing?.facts
      return { ...each, facts: former.get(id) ?? buried }
    })
}

/** Category for listings whose operator sells gift cards, credit or cash. */
const CASH_LIKE_CATEGORY = 'offramp_giftcards_payouts'

/**
 * Scores from the payments that this service saw itself. A seller of money equivalents vouches for
 * nobody, even if a person put it on the list: its buyers may not have spent anything.
 */
function judgeSales(
  files: readonly ListingFile[],
  { asOf, payments, payees }: PaymentFacts,
  { independentOperators }: Tables,
) {
  const isCashLike = ({ facts }: ListingFile) => facts.categories.includes(CASH_LIKE_CATEGORY)
  const sellers = new Set(files.filter(isCashLike).map(({ id }) => id))
  const cashLike = new Set(
    payees
      .filter(({ listings }) => listings.some((id) => sellers.has(id)))
      .map(({ owner }) => owner),
  )
  const seeds = independentOperators
    .map(({ domain }) => domain)
    .filter((domain) => !cashLike.has(domain))
    .sort()
  const as_of = new Date(asOf).toISOString()
  return { ...scoreListings({ as_of, payments, payees, seeds: new Set(seeds) }), seeds }
}

/** Whether the meter saw a payout (CAIP-10) being paid. */
function createPaidLookup({ payments }: Pick<LedgerFacts, 'payments'>) {
  let wallets: Map<string, Set<string>> | undefined
  return (payout: string): boolean => {
    const account = normalizePayout(payout)
    wallets ??= readPaidWallets(payments)
    const paid = wallets.get(chainOf(account))
    return paid?.has(account.slice(account.lastIndexOf(':') + 1)) === true
  }
}

/** Addresses that were paid, by network. */
function readPaidWallets(payments: LedgerFacts['payments']): Map<string, Set<string>> {
  const wallets = new Map<string, Set<string>>()
  for (const { network, payee, verdict } of payments) {
    const own = wallets.get(network) ?? new Set<string>()
    wallets.set(network, verdict === 'nothing_paid' ? own : own.add(payee))
  }
  return wallets
}

/**
 * The notice for a listing with a payout that is not accepted there. It has the date of its latest
 * fact, because a build never uses the current time.
 */
function toPayoutNotices(
  { facts }: Pick<ListingFile, 'facts'>,
  evidence: Evidence,
  { contested }: PayoutState,
): Notice[] {
  if (contested.length === 0) return []
  const seen = (evidence.interface?.payouts ?? [])
    .filter(({ payout }) => contested.includes(payout))
    .map(({ seen_at }) => seen_at)
  const at = [`${facts.added}T00:00:00Z`, ...seen].sort().at(-1) ?? ''
  const [first = ''] = contested
  const more = contested.length > 1 ? ` and ${contested.length - 1} more` : ''
  const note = `Listings on other domains publish the payout ${first}${more} too: payments to it do not count here until its holder proves it.`
  return [{ id: 'payout_contested', note, at }]
}

/** The window's newest payments by listing id, counted or not. */
function findNewest({
  asOf,
  payments,
}: Pick<PaymentFacts, 'asOf' | 'payments'>): Map<string, LedgerPayment[]> {
  const newest = new Map<string, LedgerPayment[]>()
  const inOrder = payments.filter(({ at }) => windowOf(at, asOf) === 0).sort(byNewest)
  for (const payment of inOrder)
    for (const id of payment.listings) {
      const own = newest.get(id) ?? []
      if (own.length < SHOWN_PAYMENTS) own.push(payment)
      newest.set(id, own)
    }
  return newest
}

function byNewest(one: LedgerPayment, other: LedgerPayment): number {
  if (one.at !== other.at) return other.at - one.at
  if (one.transaction !== other.transaction) return one.transaction < other.transaction ? -1 : 1
  return one.log - other.log
}
