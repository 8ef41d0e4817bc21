import * as v from 'valibot'
import type { Tool } from '../listing/listing-facts.ts'
import { withoutHidden } from '../listing/listing-text.ts'
import { chainOf, normalizePayout, toNetworkName } from '../listing/networks.ts'
import { toOffer, toPrice } from '../listing/operation.ts'
import { readUsd, toUsd } from '../listing/pricing.ts'
import {
  type Drift,
  type Evidence,
  type Interface,
  InterfaceSchema,
  MAX_DRIFT,
  MAX_DRIFT_TEXT,
  MAX_PAY_TO,
  type Notice,
  newestSignIn,
  type Probe,
  ProbeSchema,
  type SeenAnswer,
  type SeenOperation,
} from '../trust/evidence.ts'
import { isJsonObject, largestOf, present } from '../wire/json.ts'
import { toOperationKey } from '../wire/text.ts'
import {
  type Finding,
  KEEP_MS,
  type PaymentTerm,
  type Sight,
  toInertLine,
  toOperationName,
} from './finding.ts'
import type { ProbePlan } from './plan.ts'

const MAX_PAYOUTS = 20

/**
 * Adds a probe to those from the last 90 days, and adds what it saw to the known interface and changes.
 * What the probe did not see stays as it was.
 */
export function mergeFinding(
  evidence: Evidence,
  finding: Finding,
  plan: Pick<ProbePlan, 'declared'>,
  at: string,
): Evidence {
  const { sight, signIn } = finding
  const { protocol, outcome, ms, version } = finding
  const record = { at, protocol, outcome, ...present({ ms, version }), ...toStated(finding) }
  const probes = keepProbes([...(evidence.probes ?? []), v.parse(ProbeSchema, record)], at)
  const signedIn = signIn && { sign_in: { at, ...signIn } }
  if (sight === undefined) return { ...evidence, probes, ...signedIn }
  const seen = cutToBounds(mergeSight(evidence.interface, { ...finding, sight }, at))
  const { drift: known = [], ...rest } = evidence
  const drift = seen === null ? known : addDrift(known, evidence.interface, seen, plan.declared, at)
  return {
    ...rest,
    probes,
    ...signedIn,
    ...(seen !== null && { interface: seen }),
    ...(drift.length > 0 && { drift }),
  }
}

/** If a seller describes more than is kept, the inputs of calls are left out, and the interface is marked as cut. */
function cutToBounds(merged: MergedInterface): Interface | null {
  const cut = {
    ...merged,
    operations: merged.operations?.map(({ params: _params, body: _body, ...rest }) => rest),
    truncated: true,
  }
  for (const each of [merged, cut]) {
    const parsed = v.safeParse(InterfaceSchema, each)
    if (parsed.success) return parsed.output
  }
  return null
}

/** Probes sorted by time, at most one per time, none older than we keep. */
function keepProbes(probes: readonly Probe[], at: string): Probe[] {
  const oldest = Date.parse(at) - KEEP_MS
  const byMoment = new Map(probes.map((probe) => [`${probe.at} ${probe.protocol}`, probe]))
  return [...byMoment.values()]
    .filter((probe) => Date.parse(probe.at) >= oldest)
    .sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
}

type MergedInterface = Record<string, unknown> & Pick<Interface, 'operations'>

function mergeSight(
  old: Interface | undefined,
  finding: Finding & { sight: Sight },
  at: string,
): MergedInterface {
  const { tools, skills, server, from } = finding.sight
  const others = (finding.others ?? []).flatMap((other) => other.finding.sight ?? [])
  const sights = [finding.sight, ...others]
  const terms = sights.flatMap((each) => each.terms ?? [])
  const payouts = mergePayouts(old?.payouts ?? [], terms, at)
  const operations = mergeOperations(old, finding, at)
  const isOfCalls = from === 'x402' || from === 'mpp' || from === 'http'
  // Operations from the seller's own document keep that document as their source.
  const isTheirs = isOfCalls && (old?.from === 'openapi' || old?.from === 'catalog')
  return {
    at,
    from: isTheirs ? old?.from : from,
    ...(operations.length > 0 && { operations }),
    ...present({
      tools: tools ?? (isOfCalls ? old?.tools : undefined),
      skills: skills ?? (isOfCalls ? old?.skills : undefined),
      // Leaves out empty members.
      server: server
        ? Object.fromEntries(Object.entries(server).filter(([, value]) => value !== ''))
        : old?.server,
    }),
    ...(payouts.length > 0 && { payouts }),
    ...(sights.some(({ truncated }) => truncated) && { truncated: true }),
  }
}

/** Payouts, newest first; an address seen again gets its new date. */
function mergePayouts(
  old: NonNullable<Interface['payouts']>,
  terms: readonly PaymentTerm[],
  at: string,
): NonNullable<Interface['payouts']> {
  const named = terms.flatMap(({ payout, network }) =>
    payout === null || network === null ? [] : [{ payout, network, seen_at: at }],
  )
  const oldest = Date.parse(at) - KEEP_MS
  const recent = old.filter(({ seen_at }) => Date.parse(seen_at) >= oldest)
  const byAddress = new Map(
    [...recent, ...named].map((each) => [normalizePayout(each.payout), each]),
  )
  return [...byAddress.values()]
    .sort((a, b) =>
      a.seen_at === b.seen_at ? (a.payout < b.payout ? -1 : 1) : a.seen_at < b.seen_at ? 1 : -1,
    )
    .slice(0, MAX_PAYOUTS)
}

/** The probes from file and ledger together, with the interface and drift of the newer one. */
export function combineEvidence(file: Evidence, ledger: Evidence | undefined): Evidence {
  if (ledger === undefined) return file
  const probes = [...(file.probes ?? []), ...(ledger.probes ?? [])]
  const lastAt = (evidence: Evidence) => evidence.interface?.at ?? ''
  const newer = lastAt(ledger) > lastAt(file) ? ledger : file
  const newest = probes.map(({ at }) => at).reduce((a, b) => (a > b ? a : b), '')
  const { interface: seen, drift } = newer
  const sign_in = newestSignIn([file, ledger])
  return {
    ...file,
    ...(probes.length > 0 && { probes: keepProbes(probes, newest) }),
    ...present({ interface: seen, sign_in, drift }),
  }
}

const MAX_OFFERS = 20

/** A higher price for one call is a decoy or a ceiling (USD): it is recorded, but not as a price. */
const MAX_PRICE_USD = 1000
const MAX_SEEN_USD = 100_000

/** Outcomes that leave earlier terms as they were: no answer, or one from a proxy in front. */
const SILENT: ReadonlySet<Finding['outcome']> = new Set(['dead', 'unknown', 'gated'])

type SeenOperations = NonNullable<Interface['operations']>

/** All operations: probed ones with their answers, others unchanged. Sorted by address, so that runs change few lines. */
function mergeOperations(old: Interface | undefined, finding: Finding, at: string): SeenOperations {
  const known = new Map(readOperations(old, at).map((each) => [toOperationKey(each), each]))
  for (const { operation, finding: answer } of toAnswers(finding)) {
    const key = toOperationKey(operation)
    known.set(key, mergeAnswer(known.get(key) ?? operation, answer, at))
  }
  return [...known.values()]
    .map((each) => withoutTime(each, at))
    .sort((a, b) => (`${a.url} ${a.method}` < `${b.url} ${b.method}` ? -1 : 1))
}

/** Each probed operation of a listing, the deciding one first. */
export function toAnswers(finding: Finding) {
  const operation = finding.sight?.operation
  const first = operation === undefined ? [] : [{ operation, finding }]
  return [...first, ...(finding.others ?? [])]
}

/** The operations seen before, each with the time of its own answer. Old answers are dropped. */
function readOperations(old: Interface | undefined, at: string): SeenOperations {
  const oldest = Date.parse(at) - KEEP_MS
  return (old?.operations ?? []).map(({ seen, ...operation }) => {
    const seenAt = seen?.at ?? old?.at ?? at
    return seen === undefined || Date.parse(seenAt) < oldest
      ? operation
      : { ...operation, seen: { ...seen, at: seenAt } }
  })
}

/** Whether the terms in the operation's last 402 remain valid after this answer. */
function isSilent({ outcome }: Pick<Finding, 'outcome'>): boolean {
  return SILENT.has(outcome)
}

/** @param before the operation's earlier state; its description, price and offers stay unless replaced */
function mergeAnswer(before: SeenOperation, answer: Finding, at: string): SeenOperation {
  const { sight, outcome } = answer
  const { terms = [], operation } = sight ?? {}
  const priceUpTo = (most: number) =>
    toPrice(terms.filter(({ usd }) => usd !== null && usd <= most).flatMap(toOffer))
  const { price, offers = [] } = priceUpTo(MAX_PRICE_USD)
  const { per: _, ...requested } = priceUpTo(MAX_SEEN_USD).price ?? {}
  const { min_usd, max_usd, pay_to, accepts } = before.seen ?? {}
  const former = present({ min_usd, max_usd, pay_to, accepts })
  const seen: SeenAnswer = {
    at,
    outcome,
    ...toStated(answer),
    ...(answer.judged && { verdict: answer.judged.verdict }),
    ...(isSilent(answer) ? former : { ...requested, ...toPayTo(terms), ...toAccepts(terms) }),
  }
  return {
    ...before,
    ...operation,
    ...(price && { price, offers: offers.slice(0, MAX_OFFERS) }),
    seen,
  }
}

function toStated({ status = 0, saw }: Finding): Pick<SeenAnswer, 'status' | 'saw'> {
  const isStatus = status >= 100 && status <= 599
  return { ...(isStatus && { status }), ...(saw !== '' && { saw }) }
}

function toPayTo(terms: readonly PaymentTerm[]): Pick<SeenAnswer, 'pay_to'> {
  const named = new Map(
    terms.flatMap(({ payout }) => (payout === null ? [] : [[normalizePayout(payout), payout]])),
  )
  return named.size > 0 ? { pay_to: [...named.values()].sort().slice(0, MAX_PAY_TO) } : {}
}

function toAccepts(terms: readonly PaymentTerm[]): Pick<SeenAnswer, 'accepts'> {
  const accepts = terms.flatMap(({ accept }) => accept ?? []).slice(0, MAX_PAY_TO)
  return accepts.length > 0 ? { accepts } : {}
}

function withoutTime({ seen, ...operation }: SeenOperation, at: string): SeenOperation {
  if (seen?.at !== at) return seen === undefined ? operation : { ...operation, seen }
  const { at: _, ...rest } = seen
  return { ...operation, seen: rest }
}

/**
 * What a seller changed, as rows. Prices, networks, payees and tools at one look are compared with the
 * previous look or, if nothing changed since then, with the listing. A notice is a sentence about the
 * newest rows, and lint prints the same sentences.
 */
type Declared = ProbePlan['declared']
type What = Drift['what']

const MAX_NAME = 100
const MAX_NOTE = 300

/** Values by name, for each kind of fact that can drift. */
type Look = Record<What, ReadonlyMap<string, string>>

/**
 * The rows from this look, newest first, followed by the known rows from the last 90 days.
 * @param before what was seen until then; undefined for a first look
 * @param now what has been seen, including this look
 */
function addDrift(
  known: readonly Drift[],
  before: Interface | undefined,
  now: Interface,
  declared: Declared,
  at: string,
): Drift[] {
  const oldest = Date.parse(at) - KEEP_MS
  const kept = known.filter((row) => Date.parse(row.at) >= oldest)
  const changed = before === undefined ? [] : compareLooks(before, now)
  const isNews = ({ what, name }: Change) =>
    !changed.some((row) => row.what === what && row.name === name)
  const odd = compareWithListing(readLook(now), declared).filter(
    (row) => isNews(row) && !kept.some((old) => isSameFact(old, row)),
  )
  const rows = [
    ...changed.map((row) => toRow(row, 'look', at)),
    ...odd.map((row) => toRow(row, 'listing', at)),
  ]
  return [...rows, ...kept].slice(0, MAX_DRIFT)
}

interface Change {
  what: What
  name: string
  /** The previous value, absent for an addition; `is` is absent for a removal. */
  was?: string | undefined
  is?: string | undefined
}

function isSameFact(known: Drift, { what, name, is }: Change): boolean {
  return known.what === what && known.name === name && known.is === is
}

function toRow({ what, name, was = '', is = '' }: Change, of: Drift['of'], at: string): Drift {
  const [from, to] = cutAlike(was, is)
  return { at, what, name, ...(from !== '' && { was: from }), ...(to !== '' && { is: to }), of }
}

/** Changes in prices, networks and payees that both looks name, and in tools if both lists are complete. */
function compareLooks(before: Interface, now: Interface): Change[] {
  const [was, is] = [readLook(before, now), readLook(now, before)]
  const isWhole = before.tools !== undefined && now.tools !== undefined
  const isCut = before.truncated === true || now.truncated === true
  return (['tools', 'price', 'network', 'payee'] as const).flatMap((what) => {
    const names = [...new Set([...was[what].keys(), ...is[what].keys()])].sort()
    const rows = names.map((name) => ({
      what,
      name,
      was: was[what].get(name),
      is: is[what].get(name),
    }))
    const changed = rows.filter((row) => row.was !== row.is)
    if (what === 'tools') return isWhole && !isCut ? changed : []
    return changed.filter((row) => row.was !== undefined && row.is !== undefined)
  })
}

/** Differences between a look and the listing. A lower price is fine: buyers choose the cheapest offer. */
function compareWithListing(look: Look, declared: Declared): Change[] {
  return (['price', 'network', 'payee'] as const)
    .flatMap((what) => [...look[what]].map(([name, is]) => ({ what, name, is })))
    .map((row) => ({ ...row, was: wordOfListing(row, declared) }))
    .filter(isAgainstListing)
}

/** `was` is the listing's value here: an empty value contradicts nothing. */
function isAgainstListing({ what, was = '', is = '' }: Change): boolean {
  if (was === '' || is === '') return false
  if (what === 'price') return readUsd(is) > readUsd(was)
  const stated = splitList(was)
  if (what === 'network') return splitList(is).some((network) => !stated.includes(network))
  return splitList(is).some(
    (payee) => stated.some(isOnChainOf(payee)) && !stated.some(isSameAccount(payee)),
  )
}

/** How long a change is news if the listing does not contradict it. */
const NEWS_MS = 30 * 86_400_000

/**
 * One notice for each kind of fact, about its newest rows: contradictions of the listing and, for
 * thirty days, changed tools and a payee that was never seen before.
 * @param isPaid whether the meter saw a payout being paid
 * @param now time of the last look
 */
export function toDriftNotices(
  rows: readonly Drift[],
  declared: Declared,
  isPaid: (payout: string) => boolean,
  now: string,
): Notice[] {
  const rotating = toRotatingNotice(rows, isPaid)
  const isNews = ({ at }: Drift) => Date.parse(now) - Date.parse(at) < NEWS_MS
  const isOpen = (row: Drift) =>
    row.what === 'tools'
      ? isNews(row)
      : isAgainstListing({ ...row, was: wordOfListing(row, declared) }) ||
        (row.what === 'payee' && isNews(row) && isUnknownPayee(row, rows, declared))
  const open = (what: What) => newestOf(rows, what).filter(isOpen)
  return [
    ...toNotice('price_changed', open('price')),
    ...toNotice('network_changed', open('network')),
    ...toNotice('tools_changed', open('tools')),
    // A seller that names a new address for every payment has not changed its payee.
    ...(rotating.length > 0 ? rotating : toNotice('payout_changed', open('payee'))),
  ]
}

/** The newest row for each name; for tools, all rows from the newest look. @param rows newest first */
function newestOf(rows: readonly Drift[], what: What): Drift[] {
  const own = rows.filter((row) => row.what === what)
  return what === 'tools'
    ? own.filter(({ at }) => at === own[0]?.at)
    : own.filter(({ name }, index) => own.findIndex((row) => row.name === name) === index)
}

/** What the listing says today about a row's fact: people may have corrected it. */
function wordOfListing({ what, name, is = '' }: Change, declared: Declared): string {
  if (what === 'network') return declared.networks.join(LIST)
  if (what === 'payee')
    return declared.payouts.filter((payout) => splitList(is).some(isOnChainOf(payout))).join(LIST)
  const found = declared.operations.find((each) => toOperationName(each) === name)
  return found === undefined || found.max_usd === null ? '' : toUsd(found.max_usd)
}

/** Whether a payee is new: not published, not proved, and in no earlier row for its operation. */
function isUnknownPayee(row: Drift, rows: readonly Drift[], { payouts }: Declared): boolean {
  const earlier = rows.filter(
    (old) => old.what === 'payee' && old.name === row.name && old.at < row.at,
  )
  const former = [row.was, ...earlier.flatMap(({ was, is }) => [was, is])].flatMap(splitList)
  const known = [...payouts, ...former]
  return row.of === 'look' && !splitList(row.is).some((payee) => known.some(isSameAccount(payee)))
}

const MAX_NAMED = 4

function toNotice(id: Notice['id'], rows: readonly Drift[]): Notice[] {
  const [first] = rows
  if (first === undefined) return []
  const how = first.of === 'look' ? 'changed' : rows.length === 2 ? 'differs' : 'differ'
  const more = rows.length > 1 ? ` ${rows.length - 1} more ${how}.` : ''
  const note = id === 'tools_changed' ? toToolsSentence(rows) : `${toDriftSentence(first)}${more}`
  return [{ id, note: toInertLine(note, MAX_NOTE), at: first.at }]
}

/** How a sentence names the thing that changed. */
export const SUBJECTS = {
  tools: 'The tool',
  price: 'The price of',
  network: 'The network of',
  payee: 'The payee of',
} as const satisfies Record<What, string>

/** @example → 'The price of GET /tides was $0.01 and is $0.02.' */
export function toDriftSentence({ what, name, was, is, of }: Drift): string {
  const subject = `${SUBJECTS[what]} ${name}`
  if (was === undefined) return `${subject} is new.`
  if (is === undefined) return `${subject} is gone.`
  if (what === 'tools')
    return `The seller now describes the tool ${name} as “${is}”; before, as “${was}”.`
  const [before, now] = what === 'network' ? [toNamed(was), toNamed(is)] : [was, is]
  if (of === 'look') return `${subject} was ${before} and is ${now}.`
  return `${subject} is ${now}; the listing says ${what === 'price' ? 'at most ' : ''}${before}.`
}

/** @example toNamed('eip155:137') → 'Polygon (eip155:137)' */
function toNamed(networks: string): string {
  return splitList(networks)
    .map((id) => (toNetworkName(id) === id ? id : `${toNetworkName(id)} (${id})`))
    .join(LIST)
}

/** @example → 'Tools added: find, list; removed: search.' */
function toToolsSentence(rows: readonly Drift[]): string {
  const groups = Map.groupBy(rows, ({ was, is }) =>
    was === undefined ? 'added' : is === undefined ? 'removed' : 'changed',
  )
  const parts = (['added', 'removed', 'changed'] as const).flatMap((how) => {
    const names = (groups.get(how) ?? []).map(({ name }) => name).sort()
    const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
    return names.length === 0 ? [] : [`${how}: ${names.slice(0, MAX_NAMED).join(LIST)}${more}`]
  })
  return `Tools ${parts.join('; ')}.`
}

/** If a seller names this many payees in a month, they are assumed to change by design. */
const FEWEST_ROTATING = 3

/**
 * States that a seller's payees change by design. An intruder on the seller's server can name
 * addresses too, so each address must have been paid.
 */
function toRotatingNotice(rows: readonly Drift[], isPaid: (payout: string) => boolean): Notice[] {
  const named = rows.flatMap(({ what, name, is, at }) =>
    what === 'payee' ? splitList(is).map((payee) => ({ name, payee, at })) : [],
  )
  const paid = named.filter(({ payee }) => isPaid(payee))
  const [last] = paid
  if (last === undefined) return []
  const since = Date.parse(last.at) - NEWS_MS
  const recent = paid.filter(({ at }) => Date.parse(at) > since)
  const counts = [...Map.groupBy(recent, ({ name }) => name).values()].map(
    (own) => new Set(own.map(({ payee }) => payee)).size,
  )
  const most = largestOf(counts, 0)
  if (most < FEWEST_ROTATING) return []
  const note = `The seller names a different address for each payment: in thirty days, probes saw ${most} addresses, and each of them was paid.`
  return [{ id: 'payout_rotating', note, at: last.at }]
}

/** The name used if an answer is about a whole listing, such as a 402 before a handshake. */
const WHOLE = 'the endpoint'
const LIST = ', '
const MAX_LISTED = 5

/** @param other the look to compare with: texts are compared only if both looks have them */
function readLook(seen: Interface, other: Interface = seen): Look {
  const operations = (seen.operations ?? []).flatMap((operation) =>
    operation.seen === undefined ? [] : [{ ...operation, name: toOperationName(operation) }],
  )
  const whole = (seen.payouts ?? []).filter(({ seen_at }) => seen_at === seen.at)
  const isNamed = operations.some((each) => each.seen?.pay_to !== undefined)
  const payees = isNamed
    ? operations.map(({ name, seen: answer }) => [name, answer?.pay_to ?? []] as const)
    : [[WHOLE, whole.map(({ payout }) => payout)] as const]
  // Offers without a price may come from an older 402.
  const offered = operations.map(
    ({ name, offers = [], seen: answer }) =>
      [
        name,
        answer?.min_usd === undefined ? [] : offers.flatMap((each) => each.network ?? []),
      ] as const,
  )
  const networks = [...payees.map(([name, all]) => [name, all.map(chainOf)] as const), ...offered]
  return {
    price: new Map(
      operations.flatMap(({ name, seen: answer }) =>
        answer?.min_usd === undefined ? [] : [[name, toUsd(answer.min_usd)]],
      ),
    ),
    network: toLists(networks),
    payee: toLists(payees),
    tools: readTools(seen.tools ?? [], other.tools ?? []),
  }
}

function toLists(named: readonly (readonly [string, readonly string[]])[]): Map<string, string> {
  const groups = Map.groupBy(named, ([name]) => name)
  const lists = [...groups].map(([name, own]): [string, string] => {
    const values = [...new Set(own.flatMap(([, each]) => each))].sort()
    return [name, values.slice(0, MAX_LISTED).join(LIST)]
  })
  return new Map(lists.filter(([, list]) => list !== ''))
}

function splitList(text = ''): string[] {
  return text === '' ? [] : text.split(LIST)
}

function isSameAccount(payout: string): (other: string) => boolean {
  const wanted = normalizePayout(payout)
  return (other) => normalizePayout(other) === wanted
}

function isOnChainOf(payout: string): (other: string) => boolean {
  return (other) => chainOf(other) === chainOf(payout)
}

/** If a tool was kept without the seller's sentences in either list, it is compared without them. */
function readTools(tools: readonly Tool[], others: readonly Tool[]): Map<string, string> {
  const isBare = ({ name, description }: Tool) => description === name
  const bare = new Set([...tools, ...others].filter(isBare).map(({ name }) => name))
  return new Map(
    tools.map((tool) => {
      const { name, description, input_schema, read_only, destructive } = tool
      const parts = [
        bare.has(name) ? '' : withoutHidden(description).replace(/\s+/g, ' ').trim(),
        toShape(withoutHidden(input_schema)),
        read_only === undefined ? '' : read_only ? 'only reads' : 'may write',
        destructive === undefined ? '' : destructive ? 'may delete' : 'deletes nothing',
      ]
      const plain = withoutHidden(name)
      return [toInertLine(plain, MAX_NAME), parts.filter((part) => part !== '').join(' ') || plain]
    }),
  )
}

const MAX_SHAPE_DEPTH = 6

/** The arguments that a call must send. @example → '{name: string, key?: integer}' */
function toShape(schema: unknown, depth = 0): string {
  if (!isJsonObject(schema) || depth > MAX_SHAPE_DEPTH) return 'any'
  const { properties, required, items, enum: choices, type, anyOf, oneOf } = schema
  if (Array.isArray(choices)) return choices.map((each) => JSON.stringify(each)).join('|')
  const either = [anyOf, oneOf].find((each) => Array.isArray(each))
  if (Array.isArray(either)) return either.map((each) => toShape(each, depth + 1)).join('|')
  if (items !== undefined) return `${toShape(items, depth + 1)}[]`
  if (!isJsonObject(properties)) return depth === 0 ? '' : String(type ?? 'any')
  const needed = new Set(Array.isArray(required) ? required : [])
  const members = Object.entries(properties)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}${needed.has(name) ? '' : '?'}: ${toShape(value, depth + 1)}`)
  return members.length === 0 ? '' : `{${members.join(LIST)}}`
}

/** How many characters are shown before the first difference, so that a reader sees where a long text changed. */
const CONTEXT = 40

/** Both texts, starting shortly before their first difference. */
function cutAlike(was: string, is: string): [string, string] {
  let same = 0
  while (same < was.length && was[same] === is[same]) same += 1
  const isLong = Math.max(was.length, is.length) > MAX_DRIFT_TEXT
  const from = isLong ? Math.max(0, same - CONTEXT) : 0
  const cut = (text: string) =>
    toInertLine((from > 0 ? '…' : '') + text.slice(from), MAX_DRIFT_TEXT)
  return [cut(was), cut(is)]
}
