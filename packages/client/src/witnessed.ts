import {
  RECEIPT_HEADER,
  RECEIPT_SECRET_HEADER,
} from '../../../src/domain/receipts/receipt-headers.ts'
import { receiptPath } from '../../../src/domain/wire/links.ts'
import { memberOf } from '../../../src/domain/wire/parse-json.ts'

/** The directory's receipt of a paid call that it relayed. */
export interface Witnessed {
  id: string
  /** The salt of the receipt's hashes: only the caller has it. */
  secret: string
  /** The answer the directory saw, once requested. */
  verdict?: string
}

/** Undefined for an answer that the directory did not judge. */
export function witnessedIn({ headers }: Response): Witnessed | undefined {
  const id = headers.get(RECEIPT_HEADER)?.split('/').at(-1) ?? ''
  const secret = headers.get(RECEIPT_SECRET_HEADER) ?? ''
  return /^[\w-]{22}$/.test(id) && /^[\w-]{43}$/.test(secret) ? { id, secret } : undefined
}

/** A receipt is in the log shortly after its call ended. */
const TRIES = 4
const BETWEEN_MS = 250
const PATIENCE_MS = 2_000

/** A receipt, for a caller that has its answer already; undefined if it does not come soon. */
export async function readVerdict(
  baseUrl: string,
  { id, seller }: { id: string; seller: string },
  ask: typeof fetch = fetch,
): Promise<{ verdict: string; reason: string } | undefined> {
  const end = AbortSignal.timeout(PATIENCE_MS)
  for (let tries = 0; tries < TRIES && !end.aborted; tries += 1) {
    const view: unknown = await ask(`${baseUrl}${receiptPath(id)}`, { signal: end })
      .then((response) => (response.ok ? response.json() : null))
      .catch(() => null)
    const receipt = memberOf(view, 'receipt')
    const [verdict, reason] = ['verdict', 'reason'].map((name) => memberOf(receipt, name))
    if (memberOf(receipt, 'listing_id') === seller && typeof verdict === 'string')
      return { verdict, reason: String(reason) }
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS))
  }
  return undefined
}
