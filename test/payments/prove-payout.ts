import type { Kysely, OnConflictBuilder } from 'kysely'
import { mnemonicToAccount } from 'viem/accounts'
import { openChallenge, recordPayoutProof, recoverSigner } from '../../functions/sellers/payouts.ts'
import type { Tables } from '../../functions/store/store.ts'

/** The words behind anvil's accounts. */
const WORDS = 'test test test test test test test test test test test junk'
/** Anvil's ten, and one more that needs no coin to sign. */
const ACCOUNTS = 11

/** A seller whose claim stands proves a payout: its wallet really signs the challenge. */
export async function proveByWallet(
  db: Kysely<Tables>,
  {
    listingId,
    host,
    payout,
    baseUrl,
  }: { listingId: string; host: string; payout: string; baseUrl: string },
): Promise<void> {
  const address = payout.split(':')[2]?.toLowerCase()
  const account = Array.from({ length: ACCOUNTS }, (_, addressIndex) =>
    mnemonicToAccount(WORDS, { addressIndex }),
  ).find((one) => one.address.toLowerCase() === address)
  if (account === undefined) throw new Error(`${payout} is none of the chain's own accounts`)
  const claim = {
    id: `claim of ${listingId}`,
    listing_id: listingId,
    seller_id: 'seller',
    host,
    method: 'well_known' as const,
    token: `token of ${listingId}`,
    state: 'verified' as const,
    created_at: Date.now(),
    expires_at: Date.now() + 3_600_000,
    verified_at: Date.now(),
    last_checked_at: Date.now(),
    failing_since: null,
  }
  const seller = { id: 'seller', email: 'seller@shop.example', created_at: Date.now() }
  const isKnown = (conflict: OnConflictBuilder<Tables, 'seller'>) => conflict.doNothing()
  await db.insertInto('seller').values(seller).onConflict(isKnown).execute()
  await db.insertInto('claim').values(claim).execute()
  const row = await db
    .selectFrom('claim')
    .selectAll()
    .where('id', '=', claim.id)
    .executeTakeFirstOrThrow()
  const challenge = await openChallenge(db, row, { baseUrl, payout }, Date.now())
  const signature = await account.signMessage({ message: challenge })
  if (recoverSigner(challenge, signature) !== address) throw new Error('signed by another wallet')
  await recordPayoutProof(db, row, { payout, challenge, contractSignature: null }, Date.now())
}
