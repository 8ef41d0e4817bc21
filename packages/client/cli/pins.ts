import { readFile, rename, writeFile } from 'node:fs/promises'
import * as v from 'valibot'
import { fillCall } from '../../../src/domain/kit/filled-call.ts'
import { ID_PATTERN } from '../../../src/domain/listing/listing-text.ts'
import { chainOf } from '../../../src/domain/listing/networks.ts'
import { NetworkSchema, type Pricing } from '../../../src/domain/listing/pricing.ts'
import {
  type CallerFacts,
  callsOf,
  LOCK_FILE,
  readOffer,
  toDigest,
  toFactsOfCall,
} from '../../../src/domain/relay/pins.ts'
import { largestOf, parseJson } from '../../../src/domain/wire/json.ts'
import { toOperationKey } from '../../../src/domain/wire/text.ts'
import type { Kit } from '../src/answers.ts'
import type { Lock, LockEntry } from '../src/lock.ts'
import type { Waypost } from '../src/waypost.ts'
import { WaypostError } from '../src/waypost-error.ts'
import {
  EXIT,
  print,
  printJson,
  printNote,
  type Run,
  readArguments,
  toLine,
  UsageFault,
} from './command-line.ts'

const OPTIONS = {
  lock: { type: 'string' },
  update: { type: 'boolean' },
  only: { type: 'string', multiple: true },
} as const

/** `waypost pin <ids…>`: records what a caller relies on; a pin changes only with `--update`. */
export const runPin: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, OPTIONS)
  const waypost = connect(values.base)
  const file = values.lock ?? LOCK_FILE
  const before = await readLock(file, waypost)
  const lock: Lock = before ?? { version: 1, directory: waypost.baseUrl, listings: {} }
  const pinned = values.update === true ? Object.keys(lock.listings) : []
  const ids = positionals.length > 0 ? positionals : pinned
  if (ids.length === 0) throw new UsageFault('expected ids to pin, or --update to renew all pins')
  if (values.only !== undefined && ids.length > 1)
    throw new UsageFault('expected one id with --only, which chooses calls of a single listing')
  let held = 0
  for (const id of ids) if (!(await pinOne(waypost, lock, id, values))) held += 1
  await writeLock(file, lock)
  if (held > 0) printNote(`${held} changed but keep their old pins; --update renews these.`)
  return held > 0 ? EXIT.refused : EXIT.ok
}

/** @returns false if the listing changed and the old pin stays */
async function pinOne(
  waypost: Waypost,
  lock: Lock,
  id: string,
  { update: isUpdate = false, only }: { update?: boolean; only?: string[] },
) {
  const was = only === undefined ? lock.listings[id] : undefined
  const is = await look(waypost, id, only ?? (was && onlyOf(was)))
  const none = only?.find((call) => is.calls[call] === undefined)
  if (none !== undefined) throw new UsageFault(`expected a call in the kit of ${id}, got ${none}`)
  const drift = was === undefined ? ['pinned'] : describeDrift(was, is)
  print(toText(id, drift))
  if (drift.length === 0) return true
  if (was === undefined || isUpdate) lock.listings[id] = is
  return was === undefined || isUpdate
}

/** Replaces the file in one step: with a truncated lock, every call would be refused. */
async function writeLock(file: string, lock: Lock): Promise<void> {
  await writeFile(`${file}.next`, toLockText(lock))
  await rename(`${file}.next`, file)
}

/** `waypost check`: what changed since it was pinned; exits 1 if anything did. */
export const runCheck: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, { lock: OPTIONS.lock })
  const waypost = connect(values.base)
  const file = values.lock ?? LOCK_FILE
  const lock = await readLock(file, waypost)
  if (lock === null)
    throw new UsageFault(`expected a lock at ${file}; waypost pin <ids> creates one`)
  const unknown = positionals.find((id) => !Object.hasOwn(lock.listings, id))
  if (unknown !== undefined)
    throw new UsageFault(`${file}: expected ids that are pinned, got ${unknown}`)
  const drifts: Record<string, string[]> = {}
  for (const [id, was] of Object.entries(lock.listings)) {
    if (positionals.length > 0 && !positionals.includes(id)) continue
    const { drift, probedAt } = await findDrift(waypost, id, was)
    drifts[id] = drift
    if (values.json !== true) print(toText(id, drift, probedAt))
  }
  if (values.json === true) printJson(drifts)
  return Object.values(drifts).every((drift) => drift.length === 0) ? EXIT.ok : EXIT.refused
}

/**
 * @returns null if there is no file
 * @throws UsageFault if the file is not a lock, or is another directory's lock
 */
export async function readLock(file: string, { baseUrl }: Waypost): Promise<Lock | null> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw new UsageFault(`${file}: ${error.message}`)
  })
  if (text === null) return null
  const lock = parseLock(text)
  if (typeof lock === 'string') throw new UsageFault(`${file}: ${lock}`)
  if (lock.directory !== baseUrl)
    throw new UsageFault(
      `${file} is a lock for ${lock.directory}, but this directory is ${baseUrl}: use --base ${lock.directory}, or --lock with another file`,
    )
  return lock
}

/** How the directory's facts differ from the pin; `probedAt` is when it last probed the seller, or ''. */
async function findDrift(waypost: Waypost, id: string, was: LockEntry) {
  try {
    const kit = await waypost.kit(id)
    const [probedAt = ''] = kit.operations
      .flatMap(({ seen }) => seen?.at ?? [])
      .sort()
      .reverse()
    return { drift: describeDrift(was, toLockEntry(kit, onlyOf(was))), probedAt }
  } catch (error) {
    if (!(error instanceof WaypostError) || ![404, 410].includes(error.status)) throw error
    return { drift: [`not in the directory any more: ${error.message}`], probedAt: '' }
  }
}

/** If the directory knows no payee for a paid listing, the seller is called once, without payment. */
async function look(waypost: Waypost, id: string, only?: readonly string[]): Promise<LockEntry> {
  const kit = await waypost.kit(id)
  const entry = toLockEntry(kit, only)
  const isRequested = kit.payees.length === 0 && kit.payment.relay !== null
  return isRequested ? askSeller(waypost, kit, entry) : entry
}

async function askSeller(waypost: Waypost, kit: Kit, entry: LockEntry): Promise<LockEntry> {
  const filled = fillCall(kit.operations, {}, 'x402')
  if (typeof filled === 'string') return entry
  const { response, terms } = await waypost.call(kit.id, filled)
  await response.body?.cancel()
  return terms === undefined ? entry : withTerms(entry, terms.accepts)
}

function toText(id: string, lines: readonly string[], probedAt?: string): string {
  const since =
    probedAt === '' ? ', as far as the directory knows' : ` when last probed at ${probedAt}`
  const texts = lines.length === 0 ? [`as pinned${probedAt === undefined ? '' : since}`] : lines
  return texts.map((line) => toLine(`${id}: ${line}`)).join('\n')
}

const names = v.array(v.string())
const digest = v.pipe(v.string(), v.regex(/^[\w-]{43}$/, 'expected a digest of 43 characters'))

/** A lock's content, in a form that people can review. */
const LockSchema: v.GenericSchema<unknown, Lock> = v.strictObject({
  version: v.literal(1, 'expected 1'),
  directory: v.string(),
  listings: v.record(
    v.pipe(v.string(), v.regex(ID_PATTERN, 'expected ids')),
    v.strictObject({
      digest: v.nullable(digest),
      hosts: names,
      max_usd: v.nullable(v.pipe(v.number(), v.minValue(0, 'expected a price of 0 or more'))),
      payees: v.record(NetworkSchema, names),
      calls: v.record(v.string(), digest),
    }),
  ),
})

/** @returns a sentence with the path to the error if the text is not a lock */
export function parseLock(text: string): Lock | string {
  const parsed = v.safeParse(LockSchema, parseJson(text))
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  return `${v.getDotPath(issue) ?? 'the file'}: ${issue.message}`
}

/** The lock as text, sorted and with one fact per line, for review. */
export function toLockText({ version, directory, listings }: Lock): string {
  const sorted = Object.entries(listings).sort(([a], [b]) => (a < b ? -1 : 1))
  return `${JSON.stringify({ version, directory, listings: Object.fromEntries(sorted) }, null, 2)}\n`
}

interface Pinned extends CallerFacts {
  digest: string
  pricing: Pricing
}

/** @param only the calls to pin; by default all */
export function toLockEntry(kit: Pinned, only?: readonly string[]): LockEntry {
  const { url, invoke, pricing } = kit
  const calls = callsOf(kit).filter((call) => only === undefined || only.includes(call))
  const operations = kit.operations.filter((each) => calls.includes(toOperationKey(each)))
  const urls = [url, ...invoke.flatMap((entry) => ('url' in entry ? String(entry.url) : []))]
  const prices = [
    ...(pricing.model === 'per_call' && only === undefined ? [pricing.max_usd] : []),
    ...operations.flatMap(({ price, offers = [] }) => [
      ...(price?.per === 'call' ? [price.max_usd] : []),
      ...offers.map(({ max_usd }) => max_usd),
    ]),
  ]
  return {
    digest: only === undefined ? kit.digest : null,
    hosts: toSorted(
      urls.flatMap((each) => URL.parse(each.replace(/[<{][^>}]*[>}]/g, 'x'))?.host ?? []),
    ),
    max_usd: highestOf(prices),
    payees: byNetwork(kit.payees),
    calls: Object.fromEntries(calls.map((call) => [call, toDigest(toFactsOfCall(kit, call))])),
  }
}

/** The calls to which a pin is limited; undefined if the pin covers the whole listing. */
function onlyOf({ digest, calls }: LockEntry): string[] | undefined {
  return digest === null ? Object.keys(calls) : undefined
}

/** The entry with payees and price from the seller's own terms, if the directory knows no payee. */
function withTerms(entry: LockEntry, accepts: readonly unknown[]): LockEntry {
  const offers = accepts.map((offer) => readOffer(offer))
  return {
    ...entry,
    payees: byNetwork(offers.flatMap(({ payee }) => payee ?? [])),
    max_usd: entry.max_usd ?? highestOf(offers.flatMap(({ usd }) => usd ?? [])),
  }
}

/** One line for each difference. @example describeDrift(pinned, now) → ['price: at most $0.01, now $0.05'] */
export function describeDrift(was: LockEntry, is: LockEntry): string[] {
  // If only the seller's terms named payees, they are checked at the call.
  const knownNow = Object.keys(is.payees).length > 0 ? is.payees : was.payees
  const networks = toSorted([...Object.keys(was.payees), ...Object.keys(knownNow)])
  const shared = [
    ...toSetLines('host', was.hosts, is.hosts),
    ...networks.flatMap((network) =>
      toSetLines(`payee on ${network}`, was.payees[network] ?? [], knownNow[network] ?? []),
    ),
    ...(is.max_usd === was.max_usd || is.max_usd === null
      ? []
      : [`price: at most ${toPrice(was.max_usd)}, now ${toPrice(is.max_usd)}`]),
  ]
  const names = Object.keys(was.calls)
  const changed = names.filter((call) => ![undefined, was.calls[call]].includes(is.calls[call]))
  const isOfEach = changed.length === names.length && changed.length > 1
  const lines = [
    ...shared,
    ...toSetLines('call', names, Object.keys(is.calls)),
    // Facts that all calls share have their own lines, or belong to no single call.
    ...(shared.length > 0 || isOfEach ? [] : changed.map((call) => `call changed: ${call}`)),
  ]
  return lines.length > 0 || (was.digest === is.digest && changed.length === 0)
    ? lines
    : ['facts about all its calls changed, such as rails, networks or arguments']
}

function toSetLines(what: string, was: readonly string[], is: readonly string[]): string[] {
  return [
    ...was.filter((each) => !is.includes(each)).map((each) => `${what} removed: ${each}`),
    ...is.filter((each) => !was.includes(each)).map((each) => `${what} added: ${each}`),
  ]
}

function byNetwork(payees: readonly string[]): Record<string, string[]> {
  const networks = Map.groupBy(toSorted(payees), chainOf)
  return Object.fromEntries(
    toSorted([...networks.keys()]).map((network) => [
      network,
      (networks.get(network) ?? []).map((each) => each.slice(network.length + 1)),
    ]),
  )
}

function highestOf(prices: readonly number[]): number | null {
  return prices.length === 0 ? null : largestOf(prices)
}

function toSorted(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort()
}

function toPrice(usd: number | null): string {
  return usd === null ? 'an unknown price' : `$${usd}`
}
