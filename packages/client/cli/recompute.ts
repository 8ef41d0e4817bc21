import * as v from 'valibot'
import { LedgerPaymentSchema } from '../../../src/domain/trust/ledger-payment.ts'
import { type LedgerFiles, TrustPayeesSchema } from '../../../src/domain/trust/published-ledger.ts'
import { type ListingScore, scoreListings } from '../../../src/domain/trust/score-listings.ts'
import { judgeTrust } from '../../../src/domain/trust/trust.ts'
import { parseJson } from '../../../src/domain/wire/parse-json.ts'
import { WaypostError } from '../src/waypost-error.ts'
import { checkRows } from './check-rows.ts'
import { EXIT, type Run, readArguments, readSubject } from './command-line.ts'
import { NOT_MISSED } from './find-missing.ts'
import { printJson, toLine } from './printable.ts'

/**
 * `waypost recompute <id>`: the score of a listing from only the published rows, next to the one it
 * shows; with `--rpc` the rows of its window are checked against a chain's node.
 */
export const runRecompute: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, { rpc: { type: 'string' } })
  const id = readSubject(positionals, 'id')
  const waypost = connect(values.base)
  const { trust, url } = await waypost.listing(id)
  const files = await readFiles(waypost.baseUrl)
  const own = scoreFiles(files)(id)
  const shown = { score: trust.score, evidence: trust.evidence }
  const isSame = own.score === shown.score && own.evidence === shown.evidence
  const faults =
    values.rpc === undefined
      ? []
      : await checkRows(values.rpc, files, { id, host: new URL(url).hostname })
  const notes = values.rpc === undefined ? [] : [NOT_MISSED]
  if (values.json === true) printJson({ id, ...own, shown, same: isSame, faults, notes })
  else console.log([...toText(id, own, shown, faults), ...notes].map(toLine).join('\n'))
  return isSame && faults.length === 0 ? EXIT.ok : EXIT.refused
}

async function readFiles(baseUrl: string): Promise<LedgerFiles> {
  const payees = v.parse(TrustPayeesSchema, await (await get(baseUrl, 'payees.json')).json())
  const body = (await get(baseUrl, 'payments.ndjson')).body ?? new ReadableStream<Uint8Array>()
  const payments: v.InferOutput<typeof LedgerPaymentSchema>[] = []
  for await (const line of eachLine(body)) payments.push(v.parse(LedgerPaymentSchema, line))
  // A directory without a meter has no rows either, and any time gives no score.
  const as_of = payees.as_of ?? new Date(0).toISOString()
  return { ...payees, as_of, payments }
}

async function get(baseUrl: string, file: string): Promise<Response> {
  const url = `${baseUrl}/api/v1/trust/${file}`
  const response = await fetch(url).catch((cause: unknown) => {
    throw new WaypostError('unreachable', `${url} could not be reached`, { cause })
  })
  if (response.ok) return response
  throw new WaypostError(`http-${response.status}`, `${url} answered ${response.status}`)
}

/** JSON, one value per line, as it arrives. */
async function* eachLine(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield parseJson(line)
  }
  if (rest !== '') yield parseJson(rest)
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
  return (id: string): Score => toScore(listings.get(id))
}

function toScore(found: ListingScore | undefined): Score {
  const verdict = judgeTrust(found?.measured, found?.sharers ?? 1)
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

function toText(
  id: string,
  own: Score,
  shown: Pick<Score, 'score' | 'evidence'>,
  faults: readonly string[],
): string[] {
  const say = ({ score, evidence }: Pick<Score, 'score' | 'evidence'>) =>
    score === null ? `no score (${evidence})` : `${score} of 100`
  const { buyers = 0, settlements = 0, volume_usd = 0 } = own
  return [
    `${id}: ${say(own)} from the published rows; the listing shows ${say(shown)}`,
    `from ${buyers} buyers, ${settlements} payments and $${volume_usd}`,
    ...faults,
  ]
}
