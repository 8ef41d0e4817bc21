import { type LedgerPayment, toPublishedPayment } from '../../domain/trust/ledger-payment.ts'
import type { TrustLedgerFacts, TrustPayees } from '../../domain/trust/published-ledger.ts'
import { ROUTES } from '../../domain/wire/route-table.ts'
import type { BuildCache } from '../files/build-cache.ts'
import type { ReleaseFiles } from '../files/release-files.ts'
import { beginLines, describeFile } from './write-lines.ts'

/** Rows in memory as text at once: a day adds to the end, and leaves earlier parts as they are. */
const ROWS_A_PART = 2_000

/** The payments behind the scores and the owners of payees, so that anybody can recompute them. */
export function writeTrustLedger(
  files: Pick<ReleaseFiles, 'begin' | 'writeJson' | 'stored'>,
  payments: Iterable<LedgerPayment>,
  payees: TrustPayees,
  cache?: BuildCache,
): TrustLedgerFacts {
  const rows = { count: 0 }
  const urls = { ndjson: ROUTES.trust_payments.path, gz: ROUTES.trust_payments_gz.path }
  const lines = beginLines(files, urls, cache)
  for (const part of toParts(payments, rows)) lines.write(part)
  const about = ROUTES.trust_payees.path.slice(1)
  files.writeJson(about, payees)
  return {
    as_of: payees.as_of,
    payments: rows.count,
    ...lines.finish(),
    payees: describeFile(ROUTES.trust_payees.path, files.stored(about)),
  }
}

function* toParts(
  payments: Iterable<LedgerPayment>,
  rows: { count: number },
): Generator<Uint8Array> {
  let part: string[] = []
  for (const payment of payments) {
    rows.count += 1
    part.push(`${JSON.stringify(toPublishedPayment(payment))}\n`)
    if (part.length < ROWS_A_PART) continue
    yield Buffer.from(part.join(''))
    part = []
  }
  if (part.length > 0) yield Buffer.from(part.join(''))
}
