import { readFile } from 'node:fs/promises'
import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import * as v from 'valibot'
import {
  type Receipt,
  type ReceiptDay,
  ReceiptDaysSchema,
  type ReceiptKeys,
  ReceiptKeysSchema,
  type ReceiptView,
  ReceiptViewSchema,
  toSignedDay,
  toSignedReceipt,
} from '../../../src/domain/relay/receipt.ts'
import {
  type LedgerFiles,
  LedgerPaymentSchema,
  TrustPayeesSchema,
} from '../../../src/domain/trust/ledger-facts.ts'
import { type ListingScore, scoreListings } from '../../../src/domain/trust/score-listings.ts'
import { judgeTrust } from '../../../src/domain/trust/trust.ts'
import { fromBase64, memberOf, parseJson, toCanonicalJson } from '../../../src/domain/wire/json.ts'
import { MAX_ANSWER_BYTES, MAX_DIRECTORY_BYTES, send } from '../src/requests.ts'
import { WaypostError } from '../src/waypost-error.ts'
import {
  EXIT,
  print,
  printJson,
  type Run,
  readArguments,
  readSubject,
  toLine,
} from './command-line.ts'

/**
 * `waypost verify <receipt>`: checks that a receipt is signed, and that its day's file contains it.
 * With `--secret` and `--answer`, also checks that the receipt belongs to that answer.
 */
export const runVerify: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, {
    secret: { type: 'string' },
    answer: { type: 'string' },
  })
  const { baseUrl } = connect(values.base)
  const id = readSubject(positionals, 'receipt').replace(/^.*\//, '')
  const keys = await getJson(`${baseUrl}/.well-known/receipt-keys.json`, ReceiptKeysSchema)
  const view = await getJson(`${baseUrl}/api/v1/receipts/${id}`, ReceiptViewSchema)
  const { receipt } = view
  const ofDay = await checkDay(baseUrl, receipt, keys)
  const isAnswer = await findAnswer(values, receipt.answer)
  const checks = {
    // Otherwise one valid receipt would pass for any other.
    isRequested: receipt.id === id,
    isSigned: isReceiptSigned(view, keys),
    ...ofDay,
    ...(isAnswer !== null && { isAnswer }),
  }
  const isSound = Object.values(checks).every((check) => check)
  const day = ofDay === null ? 'not_yet' : 'published'
  if (values.json === true) printJson({ receipt, day, checks, ok: isSound })
  else print([toReceiptText(receipt), ...toLines(checks, dayOf(receipt))].map(toLine))
  return isSound ? EXIT.ok : EXIT.refused
}

/** @returns null if a receipt's day is not published yet */
async function checkDay(baseUrl: string, receipt: Receipt, keys: ReceiptKeys) {
  const { days } = await getJson(`${baseUrl}/api/v1/receipts/days.json`, ReceiptDaysSchema)
  const wanted = dayOf(receipt)
  const found = days.find(({ day }) => day === wanted)
  // Days are published in order: a missing day before a published day never comes.
  if (found === undefined)
    return days.some(({ day }) => day > wanted) ? { isDaySigned: false, isInDay: false } : null
  const file = await getText(`${baseUrl}/api/v1/receipts/${wanted}.txt`)
  return {
    isDaySigned: isDaySigned(found, file, keys),
    isInDay: file.split('\n').includes(hashOfReceipt(receipt)),
  }
}

async function findAnswer(
  { secret, answer }: { secret?: string; answer?: string },
  hash: string | null,
): Promise<boolean | null> {
  if (secret === undefined || answer === undefined) return null
  return saltedHash(secret, await readFile(answer)) === hash
}

const SAYS = {
  isRequested: 'it has the requested id',
  isSigned: 'signed by a key of the directory',
  isDaySigned: 'the file of its day is signed',
  isInDay: 'the file of its day contains it',
  isAnswer: 'it belongs to this answer',
} as const

function toReceiptText({ verdict, reason, at, listing_id }: Receipt): string {
  return `${listing_id}, ${at}: ${verdict}. ${reason}`
}

function toLines(checks: Partial<Record<keyof typeof SAYS, boolean>>, day: string): string[] {
  const lines = Object.entries(SAYS).flatMap(([name, text]) => {
    const check = Object.entries(checks).find(([each]) => each === name)?.[1]
    return check === undefined ? [] : [`${check ? 'yes' : 'NO'}: ${text}`]
  })
  return checks.isInDay === undefined
    ? [...lines, `not yet: a build publishes ${day} when the day is over`]
    : lines
}

/**
 * `waypost recompute <id>`: a listing's score computed only from the published rows, next to the
 * score that the listing shows.
 */
export const runRecompute: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, {})
  const id = readSubject(positionals, 'id')
  const waypost = connect(values.base)
  const { trust } = await waypost.listing(id)
  const files = await readFiles(waypost.baseUrl)
  const own = scoreFiles(files)(id)
  const shown = { score: trust.score, evidence: trust.evidence }
  const isSame = own.score === shown.score && own.evidence === shown.evidence
  if (values.json === true) printJson({ id, ...own, shown, same: isSame })
  else print(toText(id, own, shown).map(toLine))
  return isSame ? EXIT.ok : EXIT.refused
}

/** Ninety days of payments may take a while (milliseconds). */
const PAYMENTS_TIMEOUT_MS = 300_000

async function readFiles(baseUrl: string): Promise<LedgerFiles> {
  const files = `${baseUrl}/api/v1/trust`
  const payees = await getJson(`${files}/payees.json`, TrustPayeesSchema)
  const url = `${files}/payments.ndjson`
  const text = await getText(url, { timeoutMs: PAYMENTS_TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES })
  const lines = text.split('\n').filter((line) => line !== '')
  const payments = lines.map((line) => readAs(LedgerPaymentSchema, parseJson(line), url))
  // A directory without a meter has no rows, so the time makes no difference.
  const as_of = payees.as_of ?? new Date(0).toISOString()
  return { ...payees, as_of, payments }
}

interface Score {
  score: number | null
  evidence: string
  buyers?: number
  settlements?: number
  volume_usd?: number
}

/** Computes scores from the files. @returns a listing's score by its id */
export function scoreFiles({ as_of, payments, payees, seeds }: LedgerFiles) {
  const { listings } = scoreListings({ as_of, payments, payees, seeds: new Set(seeds) })
  return (id: string): Score => toScore(listings.get(id), as_of)
}

function toScore(found: ListingScore | undefined, as_of: string): Score {
  const verdict = judgeTrust(found?.measured, found?.sharers ?? 1, as_of)
  if (verdict.evidence === 'no_payment_data') return { score: null, evidence: verdict.evidence }
  const { verified_buyers_30d, settlements_30d, volume_usd_30d } = verdict.measured
  return {
    score: verdict.evidence === 'verified_non_wash_payments' ? verdict.score : null,
    evidence: verdict.evidence,
    buyers: verified_buyers_30d,
    settlements: settlements_30d,
    volume_usd: volume_usd_30d,
  }
}

function toText(id: string, own: Score, shown: Pick<Score, 'score' | 'evidence'>): string[] {
  const say = ({ score, evidence }: Pick<Score, 'score' | 'evidence'>) =>
    score === null ? `no score (${evidence})` : `${score} of 100`
  const { buyers = 0, settlements = 0, volume_usd = 0 } = own
  return [
    `${id}: ${say(own)} from the published rows; the listing shows ${say(shown)}`,
    `from ${buyers} buyers, ${settlements} payments and $${volume_usd}`,
  ]
}

const GET_JSON_TIMEOUT_MS = 30_000

/** @throws WaypostError if the answer has another shape, or is too long */
async function getJson<Schema extends v.GenericSchema>(
  url: string,
  schema: Schema,
): Promise<v.InferOutput<Schema>> {
  return readAs(schema, parseJson(await getText(url)), url)
}

/** @throws WaypostError with the directory's message if the directory refuses */
async function getText(
  url: string,
  limits = { timeoutMs: GET_JSON_TIMEOUT_MS, maxBytes: MAX_DIRECTORY_BYTES },
): Promise<string> {
  const response = await send({ url }, { fetch, ...limits })
  const text = await response.text()
  if (response.ok) return text
  const detail = memberOf(parseJson(text), 'detail')
  throw new WaypostError(
    `http-${response.status}`,
    `${url} answered ${response.status}${typeof detail === 'string' ? `: ${detail}` : ''}`,
  )
}

/** @throws WaypostError if the answer from an address has another shape */
function readAs<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  url: string,
): v.InferOutput<Schema> {
  const read = v.safeParse(schema, value)
  if (read.success) return read.output
  throw new WaypostError(
    'unreadable',
    `${url} answered in an unexpected shape: ${read.issues[0].message}`,
  )
}
/** The UTC day whose file contains a receipt. */
function dayOf({ at }: Pick<Receipt, 'at'>): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** The receipt's line in its day's file: the SHA-256 of its canonical JSON, in hex. */
export function hashOfReceipt(receipt: Receipt): string {
  return bytesToHex(sha256(utf8ToBytes(toCanonicalJson(receipt))))
}

/** Whether a receipt is signed by a key that the directory publishes. */
export function isReceiptSigned({ receipt, ...named }: ReceiptView, keys: ReceiptKeys): boolean {
  return isSigned(toSignedReceipt(receipt), { ...named, at: Date.parse(receipt.at) }, keys)
}

/** Whether the statement about a day is signed, and is about this file. */
export function isDaySigned(day: ReceiptDay, file: string, keys: ReceiptKeys): boolean {
  const sum = bytesToHex(sha256(utf8ToBytes(file)))
  const isOfFile = sum === day.sha256 && file.split('\n').length - 1 === day.receipts
  return isOfFile && isSigned(toSignedDay(day), { ...day, at: Date.parse(day.day) }, keys)
}

/** The SHA-256 in a receipt for an answer or a request. @param secret base64url, as the caller got it */
export function saltedHash(secret: string, bytes: Uint8Array): string {
  return bytesToHex(sha256(concatBytes(fromBase64(secret), bytes)))
}

/** Servers learn of a new key within half a minute, and clocks differ (milliseconds). */
const CLOCKS_APART_MS = 5 * 60_000

/** A retired key, which may be stolen, must not sign anything made after it was retired. */
function isSigned(
  text: Uint8Array,
  { key: id, signature, at }: { key: string; signature: string; at: number },
  { keys }: ReceiptKeys,
): boolean {
  const key = keys.find((each) => each.id === id)
  if (key === undefined) return false
  if (key.until !== undefined && at > Date.parse(key.until) + CLOCKS_APART_MS) return false
  try {
    return ed25519.verify(fromBase64(signature), text, fromBase64(key.public_key))
  } catch {
    return false
  }
}
