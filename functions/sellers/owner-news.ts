import type { Kysely } from 'kysely'
import * as v from 'valibot'
import type { LiveListing } from '../../src/domain/listing/live-listing.ts'
import { toPriceText } from '../../src/domain/operation/price-text.ts'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import type { Parts } from '../parts/parts.ts'
import type { Tables } from '../store/schema/store.ts'
import { isOwned } from './claims/claim-record.ts'

/** What owners are told of when it changes: kept with the claim as it was last told. */
const ToldSchema = v.object({
  price: v.string(),
  /** Absent where no probe said anything. */
  probe: v.optional(v.string()),
  disputed: v.boolean(),
})
type Told = v.InferOutput<typeof ToldSchema>

/**
 * Mails to owners whose listing stopped speaking, asks another price or is disputed since they were
 * last told. What is told is recorded in the transaction that queues the mail, so two servers send
 * one. Where a seller wants no such mails it is recorded all the same: turning them on tells of
 * nothing old. The first comparison after a claim tells of nothing.
 *
 * @returns how many mails were queued
 */
export async function notifyOwners({
  ledger,
  release,
}: Pick<Parts, 'ledger' | 'release'>): Promise<number> {
  const { store, mails } = ledger
  const claims = await store.db
    .selectFrom('claim')
    .innerJoin('seller', 'seller.id', 'claim.seller_id')
    .select(['claim.id', 'claim.listing_id', 'claim.host', 'claim.state', 'claim.told'])
    .select(['seller.email', 'seller.mails_off_at'])
    .where('claim.state', '=', 'verified')
    .execute()
  let queued = 0
  for (const { id, told, email, mails_off_at, ...claim } of claims) {
    const listing = release().listings.get(claim.listing_id)
    // One that was removed, or moved to another host, has no news for this owner.
    if (listing === undefined || !isOwned(release(), claim)) continue
    const is = toTold(listing)
    const text = JSON.stringify(is)
    if (text === told) continue
    const news = mails_off_at === null ? findNews(parseTold(told), is) : []
    await store.db.transaction().execute(async (trx) => {
      if (!(await record(trx, id, { was: told, is: text })) || news.length === 0) return
      const { listing_id } = claim
      await mails.add(trx, email, { kind: 'listing_news', listing_id, news })
      queued += 1
    })
  }
  if (queued > 0) mails.sendSoon()
  return queued
}

function toTold({ pricing, probe, disputed }: LiveListing): Told {
  return {
    price: toPriceText(pricing),
    ...(probe !== undefined && { probe }),
    disputed: disputed === true,
  }
}

function parseTold(text: string | null): Told | null {
  const parsed = v.safeParse(ToldSchema, parseJson(text ?? ''))
  return parsed.success ? parsed.output : null
}

/** A sentence for each; none before anything was told. */
function findNews(was: Told | null, is: Told): string[] {
  if (was === null) return []
  const isSilent = speaks(was.probe) && is.probe !== undefined && !speaks(is.probe)
  return [
    ...(isSilent ? [`our probe got no good answer (${is.probe})`] : []),
    ...(was.price === is.price ? [] : [`its price was ${was.price}, now ${is.price}`]),
    ...(is.disputed && !was.disputed ? ['a dispute about it was accepted'] : []),
  ]
}

/** A service that asks for credentials speaks. */
function speaks(outcome: string | undefined): boolean {
  return outcome === 'spoke' || outcome === 'gated'
}

/** @returns false where another server told of it meanwhile, or the claim ended */
async function record(
  trx: Kysely<Tables>,
  id: string,
  { was, is }: { was: string | null; is: string },
): Promise<boolean> {
  const rows = await trx
    .updateTable('claim')
    .set({ told: is })
    .where((eb) => eb.and({ id, state: 'verified' }))
    .where('told', was === null ? 'is' : '=', was)
    .returning('id')
    .execute()
  return rows.length > 0
}
