import type { H3Event } from 'h3'
import * as v from 'valibot'
import { ReceiptIdSchema } from '../../src/domain/receipts/receipt.ts'
import { ROUTES } from '../../src/domain/wire/route-table.ts'
import { splitTarget } from '../http/find-request-fault.ts'
import { publicJson, refuseParameters, toQueryError } from '../http/problem.ts'
import { clientOf } from '../limits/client-key.ts'
import { refusalOf } from '../limits/rate-limits.ts'
import type { Parts } from '../parts/parts.ts'
import { createStoreRoute, type StoreRoute } from '../parts/store-route.ts'
import { MAX_ENTRIES, readConsistency, readEntries, readReceipt } from './log/read-receipts.ts'
import { readReceiptKeys } from './log/receipt-keys.ts'

type Names = 'receipt' | 'receipt_log' | 'receipt_entries' | 'receipt_keys'

/** A receipt never changes; its proof does, with each head. */
const SHORT = { 'Cache-Control': 'public, max-age=30' }

/** What anybody may read of receipts, to verify them without trusting us. */
export function createReceiptRoutes(parts: Parts): Record<Names, StoreRoute> {
  const { config, problem, ledger } = parts
  const { store, signers } = ledger.receipts
  const base = { baseUrl: config.BASE_URL, isOn: config.WITNESS }
  const log = `${config.BASE_URL}${ROUTES.receipt_log.path}`
  const keys = `${config.BASE_URL}${ROUTES.receipt_keys.path}`
  const counted = (answer: (event: H3Event) => Promise<Response>) =>
    createStoreRoute(parts, async (event) => {
      const taken = await parts.limits.take('search', clientOf(event.req, config))
      return refusalOf(taken, problem) ?? answer(event)
    })
  const withFrom = (answer: (from: number | null) => Promise<unknown>) =>
    counted(async ({ req }) => {
      const from = readFrom(splitTarget(req.url).query)
      if (from !== undefined) return publicJson(await answer(from), SHORT)
      const detail = 'expected a whole number of receipts, and nothing else'
      return refuseParameters(problem, [toQueryError('from', detail)])
    })
  return {
    receipt: counted(async ({ context }) => {
      const id = context.params?.receipt_id ?? ''
      const view = v.is(ReceiptIdSchema, id) ? await readReceipt(store, id, await signers()) : null
      if (view !== null) return publicJson(view, SHORT)
      const detail = 'No receipt has this id yet. It comes a moment after its call ended.'
      return problem('receipt-not-found', { detail, headers: { 'Retry-After': '1' } })
    }),
    receipt_log: withFrom(async (from) => ({ log, keys, ...(await readConsistency(store, from)) })),
    receipt_entries: withFrom(async (given) => {
      const from = given ?? 0
      const receipts = await readEntries(store, from)
      return { from, receipts, next: receipts.length < MAX_ENTRIES ? null : from + receipts.length }
    }),
    receipt_keys: counted(async () => {
      // A directory that has never signed anything still has a key.
      await signers()
      return publicJson(await readReceiptKeys(store, base), SHORT)
    }),
  }
}

/** Undefined where it cannot be parsed. */
function readFrom(query: string): number | null | undefined {
  if (query === '') return null
  const [, from] = /^from=(\d{1,12})$/.exec(query) ?? []
  return from === undefined ? undefined : Number(from)
}
