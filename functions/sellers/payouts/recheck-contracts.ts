import type { Parts } from '../../parts/parts.ts'
import { createNodes } from '../../settlements/json-rpc.ts'
import { notifySeller } from '../claims/claim-transitions.ts'
import { hashPersonalText, isSignedByContract } from './payout-signature.ts'

const RECHECK_AFTER_MS = 7 * 86_400_000
const MOST = 500

/**
 * Asks wallets that are contracts, a week after the last time, whether they still accept the
 * signature that proved a payout: their owners change. Only a contract's own no ends a proof. A
 * node that cannot tell, or that finds no contract, is asked again next time.
 */
export async function recheckContracts({
  ledger,
  clock,
  config,
}: Pick<Parts, 'ledger' | 'clock' | 'config'>): Promise<{ checked: number; ended: number }> {
  const { db } = ledger.store
  const nodeOf = createNodes(config.RPC_URLS)
  const tally = { checked: 0, ended: 0 }
  const due = await db
    .selectFrom('payout_proof')
    .innerJoin('claim', 'claim.id', 'payout_proof.claim_id')
    .selectAll('payout_proof')
    .select(['claim.seller_id', 'claim.listing_id', 'claim.host', 'claim.method'])
    .where('claim.state', '=', 'verified')
    .where('payout_proof.signature', 'is not', null)
    .where('payout_proof.checked_at', '<', clock.now() - RECHECK_AFTER_MS)
    .orderBy('payout_proof.checked_at')
    .limit(MOST)
    .execute()
  for (const { claim_id, payout, proven_at, challenge, signature, ...claim } of due) {
    const [family = '', chain = '', address = ''] = payout.split(':')
    const node = nodeOf(`${family}:${chain}`)
    if (node === null || challenge === null || signature === null) continue
    const hash = hashPersonalText(challenge)
    const verdict = await isSignedByContract(node, address, hash, signature)
    if (verdict !== 'yes' && verdict !== 'no') continue
    tally.checked += 1
    const seen = { checked_at: clock.now() }
    // A payout proved again meanwhile stays as it is.
    const row = { claim_id, payout, proven_at }
    await db.transaction().execute(async (trx) => {
      if (verdict === 'yes')
        return void (await trx
          .updateTable('payout_proof')
          .set(seen)
          .where((eb) => eb.and(row))
          .execute())
      const gone = await trx
        .deleteFrom('payout_proof')
        .where((eb) => eb.and(row))
        .returning('payout')
        .execute()
      if (gone.length === 0) return
      tally.ended += 1
      const reason = `the contract at ${payout} no longer accepts the signature that proved it, so the proof has ended.`
      await notifySeller(trx, ledger.mails, claim, 'payout_ended', reason)
    })
  }
  return tally
}
