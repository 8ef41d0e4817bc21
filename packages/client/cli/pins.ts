import { readFile, rename, writeFile } from 'node:fs/promises'
import { fillCall } from '../../../src/domain/kit/filled-call.ts'
import {
  describeDrift,
  LOCK_FILE,
  type Lock,
  type LockEntry,
  onlyOf,
  parseLock,
  toLockEntry,
  toLockText,
  withTerms,
} from '../../../src/domain/relay/pins.ts'
import type { Kit } from '../src/answers.ts'
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
  if (ids.length === 0)
    throw new UsageFault('expected ids to pin, or --update for all that are pinned')
  if (values.only !== undefined && ids.length > 1)
    throw new UsageFault('--only names calls of one listing')
  let held = 0
  for (const id of ids) if (!(await pinOne(waypost, lock, id, values))) held += 1
  await writeLock(file, lock)
  if (held > 0) printNote(`${held} changed and keep their old pins; --update moves them.`)
  return held > 0 ? EXIT.refused : EXIT.ok
}

/** @returns false where it changed and the old pin stays */
async function pinOne(
  waypost: Waypost,
  lock: Lock,
  id: string,
  { update: isUpdate = false, only }: { update?: boolean; only?: string[] },
) {
  const was = only === undefined ? lock.listings[id] : undefined
  const is = await look(waypost, id, only ?? (was && onlyOf(was)))
  const none = only?.find((call) => is.calls[call] === undefined)
  if (none !== undefined) throw new UsageFault(`${id} has no call ${none}; its kit names them`)
  const drift = was === undefined ? ['pinned'] : describeDrift(was, is)
  print(toText(id, drift))
  if (drift.length === 0) return true
  if (was === undefined || isUpdate) lock.listings[id] = is
  return was === undefined || isUpdate
}

/** All or nothing: a truncated lock would refuse every call. */
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
  if (lock === null) throw new UsageFault(`${file} does not exist; waypost pin <ids> creates it`)
  const unknown = positionals.find((id) => !Object.hasOwn(lock.listings, id))
  if (unknown !== undefined) throw new UsageFault(`${file}: ${unknown} is not pinned`)
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

/** @returns null without a file @throws UsageFault where it is not a lock, or another directory's */
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
      `${file} was made with ${lock.directory}, and this is ${baseUrl}: use --base ${lock.directory}, or --lock with another file`,
    )
  return lock
}

/** What the directory knows; `probedAt` is when it last probed the seller, '' for never. */
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

/** Where the directory knows no payee of a paid listing, the seller is asked once, without payment. */
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
    probedAt === '' ? ', as far as the directory was told' : ` when last probed at ${probedAt}`
  const texts = lines.length === 0 ? [`as pinned${probedAt === undefined ? '' : since}`] : lines
  return texts.map((line) => toLine(`${id}: ${line}`)).join('\n')
}
