import * as v from 'valibot'
import { ID_PATTERN } from '../listing/listing-id.ts'
import type { OperationPriceSchema } from '../listing/operation.ts'
import { NetworkSchema, type Pricing } from '../listing/pricing.ts'
import { parseJson } from '../wire/parse-json.ts'
import { readOffer } from './offer.ts'

export const LOCK_FILE = 'waypost.lock'

const names = v.array(v.string())

/** What a caller relies on of one listing, as people review it. */
const LockEntrySchema = v.strictObject({
  digest: v.pipe(v.string(), v.regex(/^[\w-]{43}$/, 'expected a digest of 43 characters')),
  hosts: names,
  /** The most a call may cost, in US dollars; null where no price is known. */
  max_usd: v.nullable(v.pipe(v.number(), v.minValue(0, 'expected a price of 0 or more'))),
  /** Addresses by network. */
  payees: v.record(NetworkSchema, names),
  calls: names,
})
export type LockEntry = v.InferOutput<typeof LockEntrySchema>

const LockSchema = v.strictObject({
  version: v.literal(1, 'expected 1'),
  /** Which directory said so: another one may mean another service by the same id. */
  directory: v.string(),
  listings: v.record(v.pipe(v.string(), v.regex(ID_PATTERN, 'expected ids')), LockEntrySchema),
})
export type Lock = v.InferOutput<typeof LockSchema>

/** @returns a sentence naming the place where it is not a lock */
export function parseLock(text: string): Lock | string {
  const parsed = v.safeParse(LockSchema, parseJson(text))
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  return `${v.getDotPath(issue) ?? 'the file'}: ${issue.message}`
}

/** Sorted, a fact a line: made for review. */
export function toLockText({ version, directory, listings }: Lock): string {
  const sorted = Object.entries(listings).sort(([a], [b]) => (a < b ? -1 : 1))
  return `${JSON.stringify({ version, directory, listings: Object.fromEntries(sorted) }, null, 2)}\n`
}

/** Of a kit, what a lock is made of. */
interface Pinned {
  digest: string
  url: string
  invoke: readonly object[]
  operations: readonly {
    method: string
    url: string
    price?: v.InferOutput<typeof OperationPriceSchema> | undefined
    offers?: readonly { max_usd: number }[] | undefined
  }[]
  tools: readonly { name: string }[]
  skills: readonly { id: string }[]
  pricing: Pricing
  payees: readonly string[]
}

export function toLockEntry(kit: Pinned): LockEntry {
  const { digest, url, invoke, operations, tools, skills, pricing } = kit
  const urls = [url, ...invoke.flatMap((entry) => ('url' in entry ? String(entry.url) : []))]
  const prices = [
    ...(pricing.model === 'per_call' ? [pricing.max_usd] : []),
    ...operations.flatMap(({ price, offers = [] }) => [
      ...(price?.per === 'call' ? [price.max_usd] : []),
      ...offers.map(({ max_usd }) => max_usd),
    ]),
  ]
  return {
    digest,
    hosts: toSorted(urls.map((each) => new URL(each.replace(/[<{][^>}]*[>}]/g, 'x')).host)),
    max_usd: prices.length === 0 ? null : prices.reduce((most, each) => Math.max(most, each)),
    payees: byNetwork(kit.payees),
    calls: toSorted([
      ...operations.map((each) => `${each.method} ${each.url}`),
      ...tools.map(({ name }) => name),
      ...skills.map(({ id }) => id),
    ]),
  }
}

/** The entry with payees and price of the seller's own terms, where the directory knows no payee. */
export function withTerms(entry: LockEntry, accepts: readonly unknown[]): LockEntry {
  const offers = accepts.map((offer) => readOffer(offer))
  const prices = offers.flatMap(({ usd }) => usd ?? [])
  return {
    ...entry,
    payees: byNetwork(offers.flatMap(({ payee }) => payee ?? [])),
    max_usd:
      entry.max_usd ?? (prices.length === 0 ? null : prices.reduce((a, b) => Math.max(a, b))),
  }
}

/**
 * What changed, a line for each fact, as a person reads it; empty where nothing did.
 *
 * @example describeDrift(pinned, now) → ['price: at most $0.01, now $0.05']
 */
export function describeDrift(was: LockEntry, is: LockEntry): string[] {
  // Payees that only the seller's terms named are judged when it is called.
  const knownNow = Object.keys(is.payees).length > 0 ? is.payees : was.payees
  const networks = toSorted([...Object.keys(was.payees), ...Object.keys(knownNow)])
  const lines = [
    ...toSetLines('host', was.hosts, is.hosts),
    ...networks.flatMap((network) =>
      toSetLines(`payee on ${network}`, was.payees[network] ?? [], knownNow[network] ?? []),
    ),
    ...(is.max_usd === was.max_usd || is.max_usd === null
      ? []
      : [`price: at most ${toPrice(was.max_usd)}, now ${toPrice(is.max_usd)}`]),
    ...toSetLines('call', was.calls, is.calls),
  ]
  return lines.length > 0 || was.digest === is.digest
    ? lines
    : ['a description, a parameter, a schema or a single price changed']
}

function toSetLines(what: string, was: readonly string[], is: readonly string[]): string[] {
  return [
    ...was.filter((each) => !is.includes(each)).map((each) => `${what} removed: ${each}`),
    ...is.filter((each) => !was.includes(each)).map((each) => `${what} added: ${each}`),
  ]
}

function byNetwork(payees: readonly string[]): Record<string, string[]> {
  const groups = Map.groupBy(toSorted(payees), (payee) => payee.slice(0, payee.lastIndexOf(':')))
  return Object.fromEntries(
    [...groups].map(([network, all]) => [
      network,
      all.map((each) => each.slice(network.length + 1)),
    ]),
  )
}

function toSorted(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort()
}

function toPrice(usd: number | null): string {
  return usd === null ? 'an unknown price' : `$${usd}`
}
