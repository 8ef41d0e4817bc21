import type { Kysely } from 'kysely'
import * as v from 'valibot'
import type { LiveListing } from '../../src/domain/listing/listing-states.ts'
import { toPriceText } from '../../src/domain/listing/pricing.ts'
import { parseJson } from '../../src/domain/wire/json.ts'
import { MINUTE_MS } from '../../src/domain/wire/shapes.ts'
import { CLAIM_METHODS, isUp, RETENTION } from '../../src/domain/wire/vocabulary.ts'
import type { Letter, MailQueue, Parts, WriteLetter } from '../features/feature.ts'
import type { ClaimTable, Tables } from '../store/store.ts'
import { isOwned } from './claims.ts'
import { createSecret, hashSecret } from './sign-in.ts'

/** An email about a claim, as it is queued. */
const ClaimMailSchema = v.object({
  listing_id: v.string(),
  host: v.string(),
  method: v.picklist(CLAIM_METHODS),
  /** The reason, if there is one. */
  reason: v.string(),
})
type ClaimMail = v.InferOutput<typeof ClaimMailSchema>

/** What changed in the directory about an owned listing, one sentence per change. */
const NewsSchema = v.object({ listing_id: v.string(), news: v.array(v.string()) })

/**
 * Writes the emails. A sign-in token is created when its email is sent, so no table ever holds it;
 * every try creates a new token. Links start with `BASE_URL`, never with the request's Host.
 */
export function createLetters({ ledger, clock, config, release }: Parts) {
  const baseUrl = config.BASE_URL
  const about = <Task extends { listing_id: string }>(
    schema: v.GenericSchema<unknown, Task>,
    write: (task: Task) => Letter,
  ): WriteLetter => {
    return async (_, task) => {
      const parsed = v.safeParse(schema, task)
      if (!parsed.success) return null
      const { subject, body } = write(parsed.output)
      const links = `Your claims: ${baseUrl}/sellers/dashboard\nThe listing: ${baseUrl}/listing/${parsed.output.listing_id}`
      return { subject, body: `${body}\n\n${links}` }
    }
  }
  return {
    async sign_in(email: string): Promise<Letter> {
      const token = await issueLoginToken(ledger.store.db, email, clock.now())
      return writeSignInMail(release().site.name, `${baseUrl}/sellers/sign-in?token=${token}`)
    },
    listing_news: about(NewsSchema, writeNews),
    ...Object.fromEntries(
      Object.entries(OF_CLAIM).map(([kind, write]) => [kind, about(ClaimMailSchema, write)]),
    ),
  }
}

function writeSignInMail(name: string, link: string): Letter {
  return {
    subject: `Your ${name} sign-in link`,
    link,
    body: `Someone asked to sign in to ${name} with this address, probably you.
Open this link and press the button there:

${link}

The link works once and for ${RETENTION.login_token_minutes} minutes. A newer link replaces it.
If this was not you, ignore this email. Nobody can sign in without the link.`,
  }
}

function writeNews({ listing_id, news }: v.InferOutput<typeof NewsSchema>): Letter {
  const [first = ''] = news
  return {
    subject:
      news.length === 1 ? `${listing_id}: ${first}` : `${listing_id}: ${news.length} changes`,
    body: `there is news about your listing ${listing_id}:\n\n${news.map((line) => `  ${line}`).join('\n')}\n\nYou can turn off these emails on your dashboard.`,
  }
}

/** The emails about a claim, by kind. */
const OF_CLAIM = {
  claim_verified: ({ listing_id, host, method }) => ({
    subject: `You own the listing ${listing_id}`,
    body: `we found your proof for ${host}. The listing ${listing_id} is yours.\nIt shows as claimed after the next build of the directory.\n${method === 'oidc' ? 'Please let the workflow run each week: every run renews the proof.' : 'Please leave the proof in place: we check it every day.'}`,
  }),
  claim_superseded: ({ listing_id, host }) => ({
    subject: `Somebody else now owns the listing ${listing_id}`,
    body: `another seller proved control of ${host} after you did. The listing ${listing_id} is theirs now, and your claim has ended.\nIf this is a surprise, check who can publish files or DNS records for that host, then claim the listing again.`,
  }),
  claim_failing: ({ listing_id, reason }) => ({
    subject: `We could not find your proof for ${listing_id}`,
    body: `the daily check of your claim on ${listing_id} failed:\n${reason}\nPut the proof back within 7 days, or the claim ends and the listing is unclaimed again. You can check it now on your dashboard.`,
  }),
  claim_lapsed: ({ listing_id, host, reason }) => ({
    subject: `Your claim on ${listing_id} has lapsed`,
    body: `${reason === 'host_changed' ? `the listing has moved away from ${host}, and your proof covers that host alone.` : `we could not find your proof for ${host} for 7 days:\n${reason}`}\nThe listing ${listing_id} becomes unclaimed at the next build. You can claim it again at any time, with a new token.`,
  }),
  payout_ended: ({ listing_id, reason }) => ({
    subject: `A payout of ${listing_id} has lost its proof`,
    body: `${reason}\nFrom the next build on, payments to it count like payments to any other published payout. You can prove it again on your dashboard.`,
  }),
} satisfies Record<string, (claim: ClaimMail) => Letter>

/** Queues the email in the transaction that changes the claim. */
export async function notifySeller(
  trx: Kysely<Tables>,
  mails: MailQueue,
  claim: Pick<ClaimTable, 'seller_id' | 'listing_id' | 'host' | 'method'>,
  kind: keyof typeof OF_CLAIM,
  reason = '',
): Promise<void> {
  const { seller_id, listing_id, host, method } = claim
  const seller = trx.selectFrom('seller').select('email').where('id', '=', seller_id)
  const { email } = await seller.executeTakeFirstOrThrow()
  await mails.add(trx, email, { kind, listing_id, host, method, reason })
}

/** The facts whose changes are emailed to owners, as last reported; kept with the claim. */
const ReportedSchema = v.object({
  price: v.string(),
  /** Absent if no probe was conclusive. */
  probe: v.optional(v.string()),
  disputed: v.boolean(),
})
type Reported = v.InferOutput<typeof ReportedSchema>

/**
 * Emails owners whose listing stopped answering, changed its price or was disputed since the last
 * report. The new state is recorded in the transaction that queues the email, so two servers send
 * one email. It is recorded even if the seller wants no such emails, so that turning them on
 * reports nothing old. The first comparison after a claim reports nothing.
 */
export async function notifyOwners({
  ledger,
  release,
  log,
}: Pick<Parts, 'ledger' | 'release' | 'log'>): Promise<void> {
  const { store, mails } = ledger
  const claims = await store.db
    .selectFrom('claim')
    .innerJoin('seller', 'seller.id', 'claim.seller_id')
    .select(['claim.id', 'claim.listing_id', 'claim.host', 'claim.state', 'claim.told'])
    .select(['seller.email', 'seller.mails_off_at'])
    .where('claim.state', '=', 'verified')
    .execute()
  let queued = 0
  for (const { id, told: reported, email, mails_off_at, ...claim } of claims) {
    const listing = release().listings.get(claim.listing_id)
    // A listing that was removed, or moved to another host, has no news for this owner.
    if (listing === undefined || !isOwned(release(), claim)) continue
    const is = toReported(listing)
    const text = JSON.stringify(is)
    if (text === reported) continue
    const news = mails_off_at === null ? findNews(parseReported(reported), is) : []
    await store.db.transaction().execute(async (trx) => {
      if (!(await record(trx, id, { was: reported, is: text })) || news.length === 0) return
      const { listing_id } = claim
      await mails.add(trx, email, { kind: 'listing_news', listing_id, news })
      queued += 1
    })
  }
  if (queued === 0) return
  mails.sendSoon()
  log.info('owners.notified', { mails: queued })
}

function toReported({ pricing, probe, disputed }: LiveListing): Reported {
  return {
    price: toPriceText(pricing),
    ...(probe !== undefined && { probe }),
    disputed: disputed === true,
  }
}

function parseReported(text: string | null): Reported | null {
  const parsed = v.safeParse(ReportedSchema, parseJson(text ?? ''))
  return parsed.success ? parsed.output : null
}

/** A sentence for each change since the last letter; none if nothing was reported before. */
function findNews(was: Reported | null, is: Reported): string[] {
  if (was === null) return []
  const isSilent =
    isUp({ outcome: was.probe }) && is.probe !== undefined && !isUp({ outcome: is.probe })
  return [
    ...(isSilent ? [`our probe got no good answer (${is.probe})`] : []),
    ...(was.price === is.price ? [] : [`its price was ${was.price} and is now ${is.price}`]),
    ...(is.disputed && !was.disputed ? ['a dispute about it was accepted'] : []),
  ]
}

/** @returns false if another server reported the change meanwhile, or the claim ended */
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

/** A fresh token for the address; any earlier token for the address stops working. */
async function issueLoginToken(db: Kysely<Tables>, email: string, now: number) {
  const token = createSecret()
  const row = {
    token_hash: hashSecret(token),
    created_at: now,
    expires_at: now + RETENTION.login_token_minutes * MINUTE_MS,
  }
  await db
    .insertInto('login_token')
    .values({ email, ...row })
    .onConflict((conflict) => conflict.column('email').doUpdateSet(row))
    .execute()
  return token
}
