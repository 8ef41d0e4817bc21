import * as v from 'valibot'
import { createHttpClient, type Fetcher } from '../../functions/net/http-client.ts'
import { createResolver } from '../../functions/net/resolver.ts'
import type { Config } from '../../functions/ports/config.ts'
import {
  aboutOf,
  findReport,
  keepFile,
  listWaiting,
  settleReport,
} from '../../functions/reports/report-store.ts'
import type { ReportTable, Store } from '../../functions/store/schema/store.ts'
import { listingIdOf } from '../../src/domain/listing/listing-id.ts'
import { contentFileOf, receiptPath } from '../../src/domain/wire/links.ts'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import { readTables } from '../content/content-folder.ts'
import { withContent } from '../content/content-writer.ts'
import {
  type Decision,
  type ReviewFile,
  ReviewFileSchema,
  type ReviewItem,
  type ReviewSource,
} from '../content/review-item.ts'
import { acceptFile, type ReviewPlace } from './accept-file.ts'
import { inspectService } from './inspect-service.ts'
import { mapFound } from './map-found.ts'

/** Reports by anybody, as rows of the ledger. Only a reviewer probes or opens their addresses. */
export function createReportQueue(
  place: ReviewPlace,
  store: Store,
  now: () => string,
  createClient: () => Fetcher & AsyncDisposable,
): ReviewSource {
  return {
    kind: 'reports',
    list: async () => (await listWaiting(store)).map(toItem),
    show: async ({ id }) => toMore(await rowOf(store, id)),
    look: async ({ id }) => {
      const { kind, url, text } = await rowOf(store, id)
      if (kind !== 'new' || url === null)
        throw new OperatorError(`${id}: only the address of a new service is looked at`)
      await using client = createClient()
      const found = await inspectService(url, client, now())
      if ('unreachable' in found)
        throw new OperatorError(`${url} could not be reached: ${found.unreachable}`)
      const tables = await readTables(place.contentDir)
      const rules = { ...tables, allowPlaceholders: place.allowPrivate === true, now: now() }
      const { file, remarks } = mapFound(found, text, rules)
      if (file === null)
        return { remarks: ['it says nothing that a file could be made of', ...remarks] }
      await keepFile(store, id, JSON.stringify(file))
      return { file, remarks }
    },
    edit: ({ id }, file) => keepFile(store, id, JSON.stringify(file)),
    async settle(item, decision) {
      const row = await rowOf(store, item.id)
      const file = decision.decision === 'accepted' ? (decision.file ?? fileOf(row)) : null
      const isNewListing = row.kind === 'new' && decision.decision === 'accepted'
      if (isNewListing && file === null)
        throw new OperatorError(
          `${item.id} has no file yet: look at it, or write one and pass it with --file and --path`,
        )
      const written =
        isNewListing && file !== null
          ? await withContent(place.contentDir, (writer) => acceptFile(place, writer, file))
          : []
      const settled = {
        ...{ state: decision.decision, reason: decision.reason },
        ...(isNewListing && file !== null && { listing_id: listingIdOf(file.path) }),
      }
      if (!(await settleReport(store, item.id, settled, Date.parse(now()))))
        throw new OperatorError(`${item.id} was decided already`)
      return [...written, ...toOutcome(row, decision)]
    },
    close: () => store.close(),
  }
}

/** Probes a stranger's address as a check on the page would. */
export function createReviewClient(config: Config) {
  return createHttpClient('stranger', { config, resolver: createResolver(config.DNS_SERVERS) })
}

async function rowOf(store: Store, id: string): Promise<ReportTable> {
  const row = await findReport(store, id)
  if (row === undefined) throw new OperatorError(`${id} waits no more`)
  return row
}

function toItem(row: ReportTable): ReviewItem {
  const file = fileOf(row)
  return {
    id: row.id,
    at: new Date(row.created_at).toISOString(),
    why: row.receipt === null ? row.kind : 'disputed_verdict',
    from: 'reports',
    listing: file === null ? (row.listing_id ?? aboutOf(row)) : listingIdOf(file.path),
    note: row.text,
    ...(file !== null && { file }),
  }
}

function toMore(row: ReportTable): string[] {
  const links = v.parse(v.array(v.string()), parseJson(row.links))
  return [
    ...(row.url === null ? [] : [`address: ${row.url}`]),
    ...(row.receipt === null ? [] : [`receipt: ${receiptPath(row.receipt)}`]),
    ...(row.kind === 'wrong' ? [`its file: ${contentFileOf(row.listing_id ?? '')}`] : []),
    ...links.map((link) => `link: ${link}`),
    ...(row.email === null ? [] : [`ask back at: ${row.email}`]),
  ]
}

function fileOf({ file }: ReportTable): ReviewFile | null {
  const parsed = v.safeParse(ReviewFileSchema, file === null ? undefined : parseJson(file))
  return parsed.success ? parsed.output : null
}

function toOutcome({ kind, listing_id, receipt }: ReportTable, { decision }: Decision): string[] {
  if (decision === 'refused')
    return [
      receipt === null ? 'nothing changes; its page says why' : 'the verdict counts as before',
    ]
  if (kind === 'wrong')
    return [`change ${contentFileOf(listing_id ?? '')} by hand: nothing was written`]
  if (kind === 'new') return []
  return [
    receipt === null
      ? `${listing_id} shows the notice "disputed" from the next build on; no score changes`
      : `the verdict no longer counts for ${listing_id} from the next build on; the log keeps it`,
  ]
}
