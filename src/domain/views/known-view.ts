import * as v from 'valibot'
import type { DerivedListing } from '../derived/derived-listing.ts'
import type { SourceRow, Switches } from '../derived/tables.ts'
import { type Pricing, readUsd, toCountText, toSumText, toUsd } from '../listing/pricing.ts'
import { toShownHost } from '../listing/target-url.ts'
import { toOperationName } from '../probe/finding.ts'
import {
  type Drift,
  dayOfUse,
  NOT_FETCHED,
  OWN_EVIDENCE,
  type Probe,
  type ReportedUse,
} from '../trust/evidence.ts'
import { largestOf } from '../wire/json.ts'
import {
  type Invoked,
  isTelling,
  isUp,
  runsLocallyOnly,
  runsOf,
  WARNINGS,
  type Warning,
} from '../wire/vocabulary.ts'

/** The answer to one question about a listing, or the statement that it is not known; never an empty line. */
const KnownFactSchema = v.object({
  known: v.boolean(),
  /** Part of a sentence. */
  text: v.string(),
  /** The day on which the fact was seen, counted or listed; absent if nobody looked. */
  as_of: v.optional(v.string()),
  /** Id of the source; `service_verified` for facts that this directory saw itself. */
  source: v.optional(v.string()),
})
type KnownFact = v.InferOutput<typeof KnownFactSchema>

/** The three questions. A question that does not arise is absent: nobody pays for a kit. */
export const KnownSchema = v.object({
  owner: KnownFactSchema,
  answers: v.optional(KnownFactSchema),
  paid: v.optional(KnownFactSchema),
})
type Known = v.InferOutput<typeof KnownSchema>

export type Sources = ReadonlyMap<string, Pick<SourceRow, 'name'>>

/**
 * Who owns a listing, whether it answers, and whether anybody paid, each with its day and source.
 * Every page, badge and answer takes its sentence from here, so that no two contradict each other.
 */
export function toKnown(listing: DerivedListing, sources: Sources): Known {
  const owner = toOwner(listing, sources)
  if (listing.facts.kind === 'kit') return { owner }
  const paid = toPaid(listing, sources)
  return { owner, answers: toAnswers(listing, sources), ...(paid !== null && { paid }) }
}

/**
 * One sentence with all three facts, except those that this directory does not show.
 * @example 'Not claimed yet, listed from MPP on 24 November 2026; not probed yet; …'
 */
export function toKnownSentence({ owner, answers, paid }: Known, shows: Shows = {}): string {
  const { sellers = true, trust = true } = shows
  const facts = [sellers ? owner : undefined, answers, trust ? paid : undefined]
  const text = facts.flatMap((fact) => fact?.text ?? []).join('; ')
  return text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

type Shows = Partial<Pick<Switches, 'sellers' | 'trust'>>

const nameIn = (sources: Sources) => (id: string) => sources.get(id)?.name ?? id

function toOwner({ facts, status, provedAt }: DerivedListing, sources: Sources): KnownFact {
  const [first] = facts.sources
  const listed = { as_of: facts.added, ...(first !== undefined && { source: first.source }) }
  const host = toShownHost(URL.parse(facts.url)?.hostname ?? facts.url)
  if (facts.first_party) return { known: true, text: 'it is ours', ...listed }
  if (status === 'claimed') {
    const as_of = provedAt && new Date(provedAt).toISOString().slice(0, 10)
    const text = `its owner proved control of ${host}`
    const proof = as_of ? { text: `${text} on ${toDay(as_of)}`, as_of } : { text }
    return { known: true, ...proof, source: OWN_EVIDENCE }
  }
  const [namespace = ''] = facts.registry_name?.split('/') ?? []
  if (namespace !== '' && facts.sources.some(({ source }) => source === 'mcp_registry')) {
    const text = `${namespace} published it in the MCP registry`
    return { known: true, text, as_of: facts.added, source: 'mcp_registry' }
  }
  const from = first === undefined ? '' : ` from ${nameIn(sources)(first.source)}`
  const text = `not claimed yet, listed${from} on ${toDay(facts.added)}`
  return { known: false, text, ...listed }
}

/** @example toDay('2026-07-04T08:00:00Z') → '4 July 2026'; toDay('2026-07-04', 'short') → '4 Jul 2026' */
export function toDay(day: string, length?: keyof typeof MONTHS): string {
  return toSpan(day.slice(0, 10), day.slice(0, 10), length)
}

/** The latest good answer; if there is none, the latest failure, or what we read or ran instead. */
function toAnswers(listing: DerivedListing, sources: Sources): KnownFact {
  const { evidence, facts } = listing
  const seen = [...toProbed(listing), ...toTested(listing, sources)]
  seen.sort((a, b) => Number(b.known) - Number(a.known) || ((a.as_of ?? '') < b.as_of ? 1 : -1))
  const [best] = seen
  if (best !== undefined) return best
  const run = evidence.package_run
  if (run !== undefined && run.outcome !== 'unknown') {
    const isRunning = run.outcome === 'runs_as_declared'
    const words = isRunning ? 'its package ran as declared' : 'its package did not start'
    const as_of = run.at.slice(0, 10)
    const text = `${words} on ${toDay(as_of)}, in our sandbox`
    return { known: isRunning, text, as_of, source: OWN_EVIDENCE }
  }
  const read = evidence.interface
  const isUncallable = listing.probes.at(-1)?.outcome === 'unprobeable'
  const unclear = isUncallable ? 'our probe could not call it' : 'no result of a probe yet'
  const unprobed = listing.probes.length > 0 ? unclear : 'not probed yet'
  const how = run?.why?.startsWith(NOT_FETCHED) ? 'could not be fetched' : 'gave no result'
  const tried = run && `its package ${how} in our sandbox on ${toDay(run.at)}`
  if (tried) return { known: false, text: tried, as_of: run.at.slice(0, 10) }
  const missing = runsLocallyOnly(facts) ? 'we have not run it yet' : unprobed
  if (read === undefined || read.from === 'catalog') return { known: false, text: missing }
  const whose = isPackageRead(facts, listing.probes) ? 'its package’s' : 'its own'
  const text = `${missing}, but ${whose} description was read on ${toDay(read.at)}`
  return { known: false, text, as_of: read.at.slice(0, 10) }
}

/** Whether its calls were read from a package: a probe means that the service itself was read. */
export function isPackageRead(listing: Invoked, probes: readonly unknown[]): boolean {
  return runsOf(listing).includes('local') && (probes.length === 0 || runsLocallyOnly(listing))
}

type Dated = KnownFact & { as_of: string }

function toProbed({ probes }: DerivedListing): Dated[] {
  const judged = probes.filter(isTelling)
  const [last, good] = [judged.at(-1), judged.findLast(isUp)]
  if (last === undefined) return []
  const day = toDay(last.at)
  const key = good?.outcome === 'gated' ? ', asking for a key' : ''
  const since = good === last ? '' : `, but not on ${day}`
  const text =
    good === undefined
      ? `no good answer to our probe on ${day}`
      : `it answered our probe on ${toDay(good.at)}${key}${since}`
  return [{ known: good === last, text, as_of: last.at.slice(0, 10), source: OWN_EVIDENCE }]
}

function toTested({ evidence }: DerivedListing, sources: Sources): Dated[] {
  return (evidence.reported_use ?? []).flatMap(({ what, outcome, source, to, as_of }) => {
    if (what !== 'test_purchase') return []
    const day = to ?? as_of.slice(0, 10)
    const known = isGoodStatus(outcome)
    const blame = outcome?.startsWith('4') === true ? ', maybe due to the request' : ''
    const by = nameIn(sources)(source)
    const text = `it answered ${outcome ?? 'nothing'} to a test purchase on ${toDay(day)} (${by})${blame}`
    return [{ known, text, as_of: day, source }]
  })
}

function usesOf(
  { evidence, facts: { pricing } }: DerivedListing,
  sources: Sources,
  reported_use: Used['reported_use'] = evidence.reported_use,
) {
  return toUseSentences({ reported_use, pricing }, nameIn(sources))
}

const SIZES: ReadonlySet<ReportedUse['what']> = new Set(['volume_usd', 'payers', 'senders'])

/** Null if a call costs nothing. */
function toPaid(listing: DerivedListing, sources: Sources): KnownFact | null {
  const { trust, facts, evidence } = listing
  const isSold = facts.pricing.model === 'per_call' && facts.pricing.max_usd > 0
  const counted = usesOf(listing, sources).find(({ isPayment }) => isPayment)
  if (trust.evidence === 'verified_non_wash_payments')
    return { known: true, ...toMeasured(listing, sources) }
  if (counted !== undefined) {
    const { day, source, isTest } = counted
    // A tester's payment is a fact about payments; the answer to it is a fact about the listing.
    const tested = `one tester paid on ${toDay(day)} (${nameIn(sources)(source)})`
    return { known: true, text: isTest ? tested : counted.text, as_of: day, source }
  }
  if (!isSold) return null
  // Sums and numbers of wallets are left out here: they are among the counts by others.
  const bare = evidence.reported_use?.filter(({ what }) => !SIZES.has(what))
  const other = usesOf(listing, sources, bare).find(({ isOfMoney }) => isOfMoney)
  const text =
    other === undefined
      ? 'we know of no counted payment'
      : `we know of no payment that is surely a sale (${other.text})`
  const day = other !== undefined && { as_of: other.day, source: other.source }
  if (trust.evidence === 'no_payment_data') return { known: false, text, ...day }
  return { known: false, ...toMeasured(listing, sources) }
}

function toMeasured({ trust }: DerivedListing, sources: Sources) {
  if (trust.evidence === 'no_payment_data') return { text: '' }
  const { as_of, settlements_30d, verified_buyers_30d, source } = trust.measured
  const by =
    source === OWN_EVIDENCE ? 'read on chain by us' : `counted by ${nameIn(sources)(source)}`
  const day = as_of.slice(0, 10)
  const counts =
    trust.evidence === 'verified_non_wash_payments'
      ? `${toCountText(settlements_30d, 'settlement')} by ${toCountText(verified_buyers_30d, 'buyer')}`
      : 'no independent buyer'
  return { text: `30 days to ${toDay(day)}: ${counts}, ${by}`, as_of: day, source }
}

const MAX_SHORT_BYTES = 60
const encoder = new TextEncoder()
const isShort = (text: string) => encoder.encode(text).length <= MAX_SHORT_BYTES

/**
 * Whether anybody paid, for a row that an agent reads: at most 60 bytes; null if nothing is known.
 * If there are several counts, the words give the one that the listing's own page gives first.
 */
export function toPaidWords(listing: DerivedListing, sources: Sources): string | null {
  const { trust } = listing
  if (trust.evidence === 'verified_non_wash_payments') {
    const { as_of, settlements_30d } = trust.measured
    return `30 days to ${toDay(as_of, 'short')}: ${settlements_30d.toLocaleString('en-US')} settlements`
  }
  const first = usesOf(listing, sources).find(({ isPayment, short }) => isPayment && isShort(short))
  return first?.short ?? null
}

/** The latest day with a good answer, and the latest day with a counted payment, for filters. */
export function toKnownDays(listing: DerivedListing, sources: Sources) {
  const known = toKnown(listing, sources)
  const { trust } = listing
  const last = trust.evidence === 'no_payment_data' ? null : trust.measured.last_settlement_at
  const used = usesOf(listing, sources)
  const paid = [last?.slice(0, 10), ...used.map(({ isPayment, day }) => (isPayment ? day : null))]
  return {
    answered: known.answers?.known === true ? (known.answers.as_of ?? null) : null,
    paid:
      paid
        .flatMap((day) => day ?? [])
        .sort()
        .at(-1) ?? null,
  }
}

/**
 * Counts by others, in words: first payments for the listing itself, then payments to a payee that
 * it shares, then test purchases, then counts of other things than payments.
 * @param used includes the listing's pricing, which payments for other things do not fit
 * @param nameOf returns the name for a source's id
 */
export function toUseSentences(used: Used, nameOf: (source: string) => string) {
  const { reported_use = [], pricing } = used
  const groups = Map.groupBy(reported_use, ({ source, from, to, as_of }) =>
    [source, from, to ?? as_of].join(' '),
  )
  const found = [...groups.values()].flatMap((group) =>
    WORDINGS.flatMap((wordingOf) => {
      const figures = toFigures(group, nameOf, pricing)
      const words = wordingOf(figures)
      return words === null ? [] : [{ weight: words.weight, sentence: toSentence(words, figures) }]
    }),
  )
  found.sort((a, b) => a.weight - b.weight || (b.sentence.day < a.sentence.day ? -1 : 1))
  return found.map(({ sentence }) => sentence)
}

interface Used {
  reported_use?: readonly ReportedUse[] | undefined
  pricing?: Pricing
}

interface Figures extends Partial<Record<ReportedUse['what'], ReportedUse>> {
  source: string
  name: string
  from: string
  day: string
  /** Words around a count of payments to a shared payee. */
  about: string
  place: string
  pricing: Pricing | undefined
}

function toFigures(
  group: readonly ReportedUse[],
  nameOf: (source: string) => string,
  pricing: Used['pricing'],
): Figures {
  const [first] = group
  const { source = '', from, shared_with } = first ?? {}
  const day = first === undefined ? '' : dayOfUse(first)
  return {
    ...Object.fromEntries(group.map((use) => [use.what, use])),
    source,
    name: nameOf(source).replace(/ \(.*\)$/, ''),
    from: from ?? day,
    day,
    about: shared_with === undefined ? '' : 'about ',
    place: shared_with === undefined ? '' : `, to an address that ${shared_with} hosts share`,
    pricing,
  }
}

/** The places of these sentences among the others. */
const [TEST, BAD_TEST, FAME] = [3, 4, 7]

interface Words {
  /** The sentence's place among the others. */
  weight: number
  isPayment: boolean
  words: string
  /** The words that fit a row, and the words added if there is room. */
  few: string
  more?: string
}

const WORDINGS: readonly ((figures: Figures) => Words | null)[] = [
  toSettlementWords,
  toCallWords,
  toTestWords,
  toTransferWords,
  toFameWords,
]

/** Whoever counts settlements sees the address to which they went, but not what was bought there. */
function toSettlementWords(figures: Figures): Words | null {
  const { settlements, volume_usd, payers, name, about, place } = figures
  const mean = toOddMean(figures)
  if (settlements === undefined) return null
  const { value, outcome, shared_with } = settlements
  const count = `${about}${toCountText(value, 'settlement')}`
  const worth =
    volume_usd === undefined || volume_usd.value === 0
      ? ''
      : ` worth ${about}${toSum(volume_usd.value)} in all`
  const whose = `${place || ' to its host'}, whatever they were for`
  const odd = mean === '' ? '' : ` (about ${mean} each, so not all at the price here)`
  const flag = outcome === undefined ? '' : `, and flagged there as ${outcome}`
  return {
    weight: flag !== '' ? 5 : place !== '' ? 2 : 0,
    isPayment: value > 0 && flag === '',
    words: `${count}${worth}${atLeast(payers, 'wallet')}${whose}${odd}, counted by ${name}${flag}`,
    few: `${count} to ${shared_with === undefined ? 'its whole host' : `${shared_with} hosts`}${flag === '' ? '' : ', flagged'}`,
    more: mean === '' ? '' : `, ${mean} each`,
  }
}

/** A published sum, or each host's share of it, may be off by a cent because of rounding. */
const ROUNDED_USD = 0.01

/** The average settlement, if the listing has no such price; else empty. */
function toOddMean({ settlements, volume_usd, pricing }: Figures): string {
  const { value: count = 0, shared_with = 1 } = settlements ?? {}
  const sum = volume_usd?.value ?? 0
  if (pricing?.model !== 'per_call' || sum === 0 || count === 0) return ''
  const [mean, slack] = [Number((sum / count).toPrecision(2)), (ROUNDED_USD * shared_with) / count]
  const isPossible = mean + slack >= pricing.min_usd && mean - slack <= pricing.max_usd
  return isPossible ? '' : toUsd(mean)
}

function toCallWords({ calls, payers, name }: Figures): Words | null {
  if (calls === undefined) return null
  const number = toCountText(calls.value, 'call')
  const words = `${number}${atLeast(payers, 'payer')}, counted by ${name}`
  const few = `${number}${payers === undefined ? '' : `, ${toCountText(payers.value, 'payer')}`}`
  return { weight: 1, isPayment: (payers?.value ?? 0) > 0, words, few }
}

/** A refusal after payment may be due to the tester's own request. */
function toTestWords({ test_purchase: test, name }: Figures): Words | null {
  if (test === undefined) return null
  const { outcome = 'nothing' } = test
  const isGood = isGoodStatus(outcome)
  const blame = outcome.startsWith('4') ? ', maybe due to the request' : ''
  return {
    weight: isGood ? TEST : BAD_TEST,
    isPayment: true,
    words: `answered ${outcome} after one tester paid${blame} (${name})`,
    few: `a test purchase, ${isGood ? '' : 'but '}answered ${outcome}`,
  }
}

function isGoodStatus(outcome: string | undefined): boolean {
  return outcome !== undefined && /^2\d\d$/.test(outcome)
}

function toTransferWords(figures: Figures): Words | null {
  const { transfers, senders, volume_usd, name, place } = figures
  if (transfers === undefined) return null
  const few = `${toCountText(transfers.value, 'transfer')} received`
  const worth = volume_usd === undefined ? '' : `, ${toSum(volume_usd.value)} in all`
  const from = senders === undefined ? '' : ` from ${toCountText(senders.value, 'wallet')}`
  const words = `${few}${from}${worth}${place}, sales or not, counted by ${name}`
  return { weight: 6, isPayment: false, words, few }
}

function toFameWords({ downloads, stars, name }: Figures): Words | null {
  const counts = [downloads, stars].flatMap((use) =>
    use === undefined ? [] : [toCountText(use.value, use.what.slice(0, -1))],
  )
  if (counts.length === 0) return null
  const few = counts.join(' and ')
  return { weight: FAME, isPayment: false, words: `${few} in all, counted by ${name}`, few }
}

function atLeast(use: ReportedUse | undefined, noun: string): string {
  return use === undefined ? '' : ` from at least ${toCountText(use.value, noun)}`
}

function toSum(usd: number): string {
  return usd < 1000 ? toSumText(usd) : `$${Math.round(usd).toLocaleString('en-US')}`
}

/** One source's figures for one period, as a sentence: the period comes before the numbers. */
function toSentence(
  { weight, isPayment, words, few, more = '' }: Words,
  { source, name, from, day }: Figures,
) {
  const [span, last] = [toSpan(from, day, 'short'), toDay(day, 'short')]
  // A count next to a single day would look like that day's count.
  const forms = [
    `${span}: ${few}${more}, per ${name}`,
    `${span}: ${few}${more}`,
    `${span}: ${few}, per ${name}`,
    `${span}: ${few}`,
  ]
  const short = forms.find(isShort) ?? `${last}: ${few}`
  const [isOfMoney, isTest] = [weight < FAME, weight === TEST || weight === BAD_TEST]
  return {
    source,
    /** The last day that was counted. */
    day,
    /** Whether somebody paid for the service. */
    isPayment,
    /** Whether the payment was one tester's. */
    isTest,
    /** Whether the sentence is about money that an address received, for whatever reason. */
    isOfMoney,
    /** @example '4–20 July 2026: 1,500 calls from at least 9 payers, counted by merona' */
    text: `${toSpan(from, day)}: ${words}`,
    /** At most 60 bytes. @example '4–20 Jul 2026: 36 settlements to its whole host, per merona' */
    short,
  }
}

const MONTHS = {
  long: [
    ...['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September'],
    ...['October', 'November', 'December'],
  ],
  short: ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'],
}

/** Days in words. @example toSpan('2026-07-04', '2026-07-20') → '4–20 July 2026' */
function toSpan(from: string, to: string, length: keyof typeof MONTHS = 'long'): string {
  const [first = [], last = []] = [from, to].map((day) => {
    const date = new Date(day)
    return [date.getUTCDate(), MONTHS[length][date.getUTCMonth()], date.getUTCFullYear()]
  })
  const end = last.join(' ')
  const differs = first.findLastIndex((part, at) => part !== last[at])
  if (differs < 0) return end
  return differs === 0 ? `${first[0]}–${end}` : `${first.slice(0, differs + 1).join(' ')} – ${end}`
}

/** The outcome of the newest probe that reveals something about the service. */
export function newestOutcome(probes: readonly Probe[]): Probe['outcome'] | undefined {
  const telling = probes.filter(isTelling)
  return telling.sort((a, b) => Date.parse(b.at) - Date.parse(a.at))[0]?.outcome
}

/** The first of the listing's warnings, if it has any. */
export function toWarning({ facts, notices, probes }: DerivedListing): Warning | undefined {
  const outcome = newestOutcome(probes)
  const ids = new Set<string>(notices.map(({ id }) => id))
  if (outcome !== undefined && !isUp({ outcome })) ids.add('no_answer')
  if (outcome === 'gated' && facts.auth.type === 'payment') ids.add('key_required')
  return WARNINGS.find((warning) => ids.has(warning))
}

interface PricedCall {
  method: string
  url: string
  seen?: { min_usd?: number | undefined } | undefined
}

/** What an operation's seller wanted last, as our probes saw it (US dollars); undefined if none saw a price. */
export function lastPriceOf(
  { method, url, seen }: PricedCall,
  drift: readonly Drift[] = [],
): number | undefined {
  const name = toOperationName({ method, url })
  // The newest change of its price comes first; it is written in US dollars: `$0.02`.
  const change = drift.find((row) => row.what === 'price' && row.name === name)
  return seen?.min_usd ?? (change?.is === undefined ? undefined : readUsd(change.is))
}

/**
 * The price range (US dollars) of a listing for which probes saw a price above all that it lists; null if they
 * saw no such price. If the listing has a single operation, its price is what the last probe saw.
 */
export function toRaisedPrice({
  pricing,
  operations,
  drift = [],
}: {
  pricing: Pricing
  operations: readonly unknown[]
  drift?: readonly Drift[] | undefined
}): { least: number; most: number } | null {
  if (pricing.model !== 'per_call') return null
  // The newest change comes first: for each operation, its price today.
  const changes = Map.groupBy(
    drift.filter(({ what }) => what === 'price'),
    ({ name }) => name,
  )
  const seen = [...changes.values()].flatMap(([{ is = '' } = {}]) => readUsd(is) || [])
  const most = largestOf([pricing.max_usd, ...seen])
  if (most === pricing.max_usd) return null
  return { least: operations.length === 1 ? most : pricing.min_usd, most }
}

/** A listing's pricing with the range as our probes saw it last, if they saw a price above all that it lists. */
export function toSeenPricing({ facts: { pricing }, surface, evidence }: DerivedListing): Pricing {
  const raised = toRaisedPrice({ ...surface, pricing, drift: evidence.drift })
  return pricing.model !== 'per_call' || raised === null
    ? pricing
    : { ...pricing, min_usd: raised.least, max_usd: raised.most }
}
