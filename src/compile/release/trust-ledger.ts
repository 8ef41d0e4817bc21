import { type LedgerPayment, toPublishedPayment } from '../../domain/trust/ledger-payment.ts'
import type { TrustLedgerFacts, TrustPayees } from '../../domain/trust/published-ledger.ts'
import { ROUTES } from '../../domain/wire/route-table.ts'
import { noCache } from '../files/build-cache.ts'
import type { ReleaseWriter } from '../files/release-writer.ts'
import { describeDump, gzipInParts } from './create-dump.ts'

/** The payments behind the scores, and whose the payees are: the files that anybody may recompute from. */
export interface TrustLedger {
  plain: Uint8Array
  gz: Uint8Array
  payees: Uint8Array
  facts: TrustLedgerFacts
}

/** Rows that are compressed together: a day adds to the end, and leaves the parts before as they are. */
const ROWS_A_PART = 2_000

/** @param cache of what parts were compressed to */
export function createTrustLedger(
  payments: readonly LedgerPayment[],
  payees: TrustPayees,
  cache = noCache(),
): TrustLedger {
  const parts = Array.from({ length: Math.ceil(payments.length / ROWS_A_PART) }, (_, n) =>
    toLines(payments.slice(n * ROWS_A_PART, (n + 1) * ROWS_A_PART)),
  )
  const plain = Buffer.concat(parts)
  const gz = gzipInParts(parts, plain, cache)
  const about = Buffer.from(`${JSON.stringify(payees)}\n`)
  return {
    plain,
    gz,
    payees: about,
    facts: {
      as_of: payees.as_of,
      payments: payments.length,
      ndjson: describeDump(ROUTES.trust_payments.path, plain),
      gz: describeDump(ROUTES.trust_payments_gz.path, gz),
      payees: describeDump(ROUTES.trust_payees.path, about),
    },
  }
}

function toLines(payments: readonly LedgerPayment[]): Uint8Array {
  return Buffer.from(
    payments.map((payment) => `${JSON.stringify(toPublishedPayment(payment))}\n`).join(''),
  )
}

/** The compressed rows are also what a client gets that takes gzip and asks for the others. */
export function writeTrustLedger(writer: ReleaseWriter, ledger: TrustLedger): void {
  writer.write(ROUTES.trust_payments_gz.path.slice(1), ledger.gz)
  writer.write(ROUTES.trust_payments.path.slice(1), ledger.plain)
  writer.write(ROUTES.trust_payees.path.slice(1), ledger.payees)
}
