import type { Tool } from '../listing/listing-facts.ts'
import { withoutHidden } from '../listing/listing-text.ts'
import { chainOf, normalizePayout } from '../listing/networks.ts'
import { toUsd } from '../operation/price-text.ts'
import { type Drift, MAX_DRIFT, MAX_DRIFT_TEXT } from '../trust/evidence.ts'
import type { Interface, Notice } from '../trust/interface.ts'
import { isJsonObject, largestOf } from '../wire/json.ts'
import { KEEP_MS, toInertLine, toOperationName } from './finding.ts'
import type { ProbePlan } from './plan.ts'

/**
 * What a seller changed, as rows: its prices, networks, payees and tools at one look, compared with
 * the look before or, if that says nothing new, with what the listing says. A notice is a sentence over
 * the newest rows, and lint prints the same sentences.
 */
type Declared = ProbePlan['declared']
type What = Drift['what']

const MAX_NAME = 100
const MAX_NOTE = 300

/** Values by name, for each kind of fact that can drift. */
type Look = Record<What, ReadonlyMap<string, string>>

/**
 * The rows of a look, newest first, above those of the last 90 days.
 *
 * @param before what was seen until then; undefined for a first look
 * @param now the same with this look in it
 */
export function addDrift(
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
  /** Absent for what is new, and `is` for what is gone. */
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

/** Prices, networks and payees that were named both times; tools where both lists are whole. */
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

/** Where a look and the listing disagree. Buyers choose the cheapest offer: a lower price is fine. */
function compareWithListing(look: Look, declared: Declared): Change[] {
  return (['price', 'network', 'payee'] as const)
    .flatMap((what) => [...look[what]].map(([name, is]) => ({ what, name, is })))
    .map((row) => ({ ...row, was: wordOfListing(row, declared) }))
    .filter(isAgainstListing)
}

/** Judged by `was` as the listing's word: an empty one says nothing. */
function isAgainstListing({ what, was = '', is = '' }: Change): boolean {
  if (was === '' || is === '') return false
  if (what === 'price') return toNumber(is) > toNumber(was)
  const stated = splitList(was)
  if (what === 'network') return splitList(is).some((network) => !stated.includes(network))
  return splitList(is).some(
    (payee) => stated.some(isOnChainOf(payee)) && !stated.some(isSameAccount(payee)),
  )
}

/** How long a change that the listing says nothing of is news. */
const NEWS_MS = 30 * 86_400_000

/**
 * One notice for each kind of fact, by its newest rows: what stands against the listing, and for
 * thirty days other tools, and a payee that was never seen before.
 *
 * @param isPaid whether the meter saw a payout paid
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
        (row.what === 'payee' && isNews(row) && isUnknownPayee(row, rows))
  const open = (what: What) => newestOf(rows, what).filter(isOpen)
  return [
    ...toNotice('price_changed', open('price')),
    ...toNotice('network_changed', open('network')),
    ...toNotice('tools_changed', open('tools')),
    // A seller that names another address each time has not changed it.
    ...(rotating.length > 0 ? rotating : toNotice('payout_changed', open('payee'))),
  ]
}

/** The newest row of each name; of tools, those of the newest look. @param rows newest first */
function newestOf(rows: readonly Drift[], what: What): Drift[] {
  const own = rows.filter((row) => row.what === what)
  return what === 'tools'
    ? own.filter(({ at }) => at === own[0]?.at)
    : own.filter(({ name }, index) => own.findIndex((row) => row.name === name) === index)
}

/** What the listing says of a row's fact today: people may have corrected it. */
function wordOfListing({ what, name, is = '' }: Change, declared: Declared): string {
  if (what === 'network') return declared.networks.join(LIST)
  if (what === 'payee')
    return declared.payouts.filter((payout) => splitList(is).some(isOnChainOf(payout))).join(LIST)
  const found = declared.operations.find((each) => toOperationName(each) === name)
  return found === undefined || found.max_usd === null ? '' : toUsd(found.max_usd)
}

/** Nobody published it and no earlier row of the operation names it. */
function isUnknownPayee(row: Drift, rows: readonly Drift[]): boolean {
  const earlier = rows.filter(
    (old) => old.what === 'payee' && old.name === row.name && old.at < row.at,
  )
  const known = [row.was, ...earlier.flatMap(({ was, is }) => [was, is])].flatMap(splitList)
  return row.of === 'look' && !splitList(row.is).some((payee) => known.some(isSameAccount(payee)))
}

const MAX_NAMED = 4

function toNotice(id: Notice['id'], rows: readonly Drift[]): Notice[] {
  const [first] = rows
  if (first === undefined) return []
  const how = first.of === 'look' ? 'changed' : 'differ'
  const more = rows.length > 1 ? ` ${rows.length - 1} more ${how}.` : ''
  const note = id === 'tools_changed' ? toToolsSentence(rows) : `${toDriftSentence(first)}${more}`
  return [{ id, note: toInertLine(note, MAX_NOTE), at: first.at }]
}

const SUBJECTS = {
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
  if (of === 'look') return `${subject} was ${was} and is ${is}.`
  return `${subject} is ${is}; the listing says ${what === 'price' ? 'at most ' : ''}${was}.`
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

/** From this many payees in a month, a seller's payees are taken to change by design. */
const FEWEST_ROTATING = 3

/**
 * States that a seller's payees change by design. Naming addresses is cheap: an intruder on a
 * seller's server can, so each must have been paid.
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
  const note = `The seller names another address for each payment: probes saw ${most} of them in thirty days, each of which was paid.`
  return [{ id: 'payout_rotating', note, at: last.at }]
}

/** Where an answer stands for a whole listing, such as a 402 before a handshake. */
const WHOLE = 'the endpoint'
const LIST = ', '
const MAX_LISTED = 5

/** @param other a look that it will be compared with: texts count where both have them */
function readLook(seen: Interface, other: Interface = seen): Look {
  const operations = (seen.operations ?? []).flatMap((operation) =>
    operation.seen === undefined ? [] : [{ ...operation, name: toOperationName(operation) }],
  )
  const whole = (seen.payouts ?? []).filter(({ seen_at }) => seen_at === seen.at)
  const isNamed = operations.some((each) => each.seen?.pay_to !== undefined)
  const payees = isNamed
    ? operations.map(({ name, seen: answer }) => [name, answer?.pay_to ?? []] as const)
    : [[WHOLE, whole.map(({ payout }) => payout)] as const]
  // Offers without a price may be of an older 402.
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

/** @example toNumber('$0.01') → 0.01 */
function toNumber(usd: string): number {
  return Number(usd.replace(/[$,]/g, ''))
}

/** A tool that was kept without its seller's sentences, on either side, is compared without them. */
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

/** What a call must send. @example → '{name: string, key?: integer}' */
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

/** Words shown before the first difference, so that a reader sees where a long text changed. */
const CONTEXT = 40

/** Both texts from shortly before their first difference. */
function cutAlike(was: string, is: string): [string, string] {
  let same = 0
  while (same < was.length && was[same] === is[same]) same += 1
  const isLong = Math.max(was.length, is.length) > MAX_DRIFT_TEXT
  const from = isLong ? Math.max(0, same - CONTEXT) : 0
  const cut = (text: string) =>
    toInertLine((from > 0 ? '…' : '') + text.slice(from), MAX_DRIFT_TEXT)
  return [cut(was), cut(is)]
}
