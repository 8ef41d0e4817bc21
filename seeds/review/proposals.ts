import * as v from 'valibot'
import {
  editProposal,
  findProposal,
  foundOf,
  listWaiting,
  settleProposal,
} from '../../functions/proposals/proposal-store.ts'
import type { ProposalTable, Store } from '../../functions/store/schema/store.ts'
import { listingIdOf } from '../../src/domain/listing/listing-id.ts'
import { toFoundView } from '../../src/domain/proposals/found-service.ts'
import { contentFileOf } from '../../src/domain/wire/links.ts'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import { readTables } from '../content/content-folder.ts'
import { withContent } from '../content/content-writer.ts'
import {
  type ReviewFile,
  ReviewFileSchema,
  type ReviewItem,
  type ReviewSource,
} from '../content/review-item.ts'
import type { MapRules } from '../facts/seed-source.ts'
import { acceptFile, type ReviewPlace } from './accept-file.ts'
import { mapProposal } from './map-proposal.ts'

/** An open store keeps the command from ending. */
async function readOrClose(contentDir: string, store: Store) {
  try {
    return readTables(contentDir)
  } catch (error) {
    await store.close()
    throw error
  }
}

/** What strangers proposed: rows of the ledger, each with the file it would become. */
export async function openProposals(
  place: ReviewPlace,
  store: Store,
  now: () => string,
): Promise<ReviewSource> {
  const tables = await readOrClose(place.contentDir, store)
  const rulesAt = (at: string): MapRules => ({
    ...tables,
    allowPlaceholders: place.allowPrivate === true,
    now: at,
  })
  return {
    kind: 'proposals',
    list: async () => (await listWaiting(store.db)).map((row) => toItem(row, rulesAt)),
    async show({ id }) {
      const row = await findProposal(store.db, id)
      return row?.email == null ? [] : [`ask back at: ${row.email}`]
    },
    edit: (item, file) => editProposal(store.db, item.id, JSON.stringify(file)),
    async settle(item, decision) {
      const { reason } = decision
      const settle = (state: 'accepted' | 'refused', listing_id: string | null) =>
        settleProposal(store.db, item.id, { state, reason, listing_id }, Date.parse(now()))
      if (decision.decision === 'refused') {
        await settle('refused', null)
        return ['nothing is listed; its page says why']
      }
      const corrected = (await findProposal(store.db, item.id))?.listing_id ?? null
      if (corrected !== null) {
        await settle('accepted', corrected)
        return [`change ${contentFileOf(corrected)} by hand: nothing was written`]
      }
      const file = decision.file ?? item.file
      if (file === undefined)
        throw new OperatorError(
          `${item.id}: nothing readable was found, so no file was prepared: write one and pass it with --file and --path`,
        )
      const done = await withContent(place.contentDir, (writer) => acceptFile(place, writer, file))
      await settle('accepted', listingIdOf(file.path))
      return done
    },
    close: () => store.close(),
  }
}

function toItem(row: ProposalTable, rulesAt: (at: string) => MapRules): ReviewItem {
  const at = new Date(row.created_at).toISOString()
  const found = foundOf(row)
  if (row.listing_id !== null)
    return {
      id: row.id,
      at,
      why: 'correction',
      from: 'proposals',
      listing: row.listing_id,
      note: `${contentFileOf(row.listing_id)} · ${row.note}`,
    }
  const mapped = mapProposal(found, row.note, rulesAt(found.at))
  const file = editedFile(row) ?? mapped.file
  return {
    id: row.id,
    at,
    why: 'proposed',
    from: 'proposals',
    listing: file === null ? row.url : listingIdOf(file.path),
    note: [row.url, row.note, ...mapped.remarks].filter((part) => part !== '').join(' · '),
    ...(file === null ? {} : { file }),
    found: toFoundView(found),
  }
}

function editedFile({ file }: ProposalTable): ReviewFile | null {
  const parsed = v.safeParse(ReviewFileSchema, file === null ? undefined : parseJson(file))
  return parsed.success ? parsed.output : null
}
