import type * as v from 'valibot'
import {
  type LedgerFiles,
  LedgerPaymentSchema,
  TrustPayeesSchema,
} from '../../../src/domain/trust/ledger-facts.ts'
import { type ListingScore, scoreListings } from '../../../src/domain/trust/score-listings.ts'
import { judgeTrust } from '../../../src/domain/trust/trust.ts'
import { parseJson } from '../../../src/domain/wire/json.ts'
import { MAX_ANSWER_BYTES, send } from '../src/requests.ts'
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
import { getJson, readAs } from './get-json.ts'

/**
 * `waypost recompute <id>`: the score of a listing from only the published rows, next to the one it
 * shows.
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
const TIMEOUT_MS = 300_000
/** Of one payment, in characters. */
const MAX_LINE = 64 * 1024

async function readFiles(baseUrl: string): Promise<LedgerFiles> {
  const files = `${baseUrl}/api/v1/trust`
  const payees = await getJson(`${files}/payees.json`, TrustPayeesSchema)
  const url = `${files}/payments.ndjson`
  const payments: v.InferOutput<typeof LedgerPaymentSchema>[] = []
  for await (const line of eachLine(url))
    payments.push(readAs(LedgerPaymentSchema, parseJson(line), url))
  // A directory without a meter has no rows either, and any time gives no score.
  const as_of = payees.as_of ?? new Date(0).toISOString()
  return { ...payees, as_of, payments }
}

/** As they arrive. */
async function* eachLine(url: string): AsyncGenerator<string> {
  const response = await send({ url }, { fetch, timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES })
  if (!response.ok)
    throw new WaypostError(`http-${response.status}`, `${url} answered ${response.status}`)
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of response.body ?? []) {
    const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
    if (rest.length > MAX_LINE)
      throw new WaypostError('unreadable', `${url} has a line of more than ${MAX_LINE} characters`)
  }
  if (rest !== '') yield rest
}

interface Score {
  score: number | null
  evidence: string
  buyers?: number
  settlements?: number
  volume_usd?: number
}

/** Facts of each listing in the files. */
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

/**
 * `Map.groupBy` came with Node 21, and the code that computes scores uses it. The package promises Node 20.3.
 */
export function supplyGroupBy(): void {
  Map.groupBy ??= groupBy
}

function groupBy<Key, Item>(
  items: Iterable<Item>,
  keyOf: (item: Item, place: number) => Key,
): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  let place = 0
  for (const item of items) {
    const key = keyOf(item, place++)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
