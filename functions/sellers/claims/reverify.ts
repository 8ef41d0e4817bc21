import { inPieces } from '../../store/rows.ts'
import { createProver } from '../proofs/prover.ts'
import { type ClaimParts, checkClaim } from './claim-check.ts'

/** Every verified claim is checked again once a day. */
const RECHECK_AFTER_MS = 20 * 3_600_000
/** A workflow sends its proof itself: only one silent for this long is checked. */
const WORKFLOW_SILENT_MS = 30 * 86_400_000
const BATCH = 50
const AT_ONCE = 4

/**
 * Checks the verified claims that are due: also those of listings that were opted out or removed;
 * the latter lapse as if the proof were gone. Instances may run this at the same time: a claim is
 * taken by moving its `last_checked_at`, so each is checked once.
 *
 * @param recheckAfterMs how long ago the last check must be; 0 checks every verified claim now
 */
export async function reverifyClaims(parts: ClaimParts, recheckAfterMs = RECHECK_AFTER_MS) {
  const prove = createProver(parts)
  const tally = { checked: 0, failing: 0, lapsed: 0 }
  // Fixed at the start: a claim checked in this run is never due again in it.
  const dueBefore = parts.clock.now() - recheckAfterMs
  for (;;) {
    const due = await takeDueClaims(parts, dueBefore)
    if (due.length === 0) return tally
    for (const some of inPieces(due, AT_ONCE))
      await Promise.all(
        some.map(async (claim) => {
          const { claim: after } = await checkClaim(parts, prove, claim, { email: claim.email })
          tally.checked += 1
          if (after.state === 'lapsed') tally.lapsed += 1
          else if (after.failing_since !== null) tally.failing += 1
        }),
      )
    parts.ledger.mails.sendSoon()
  }
}

async function takeDueClaims({ ledger, clock }: ClaimParts, dueBefore: number) {
  const { db } = ledger.store
  const taken = await db
    .updateTable('claim')
    .set({ last_checked_at: clock.now() })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('claim as due')
        .select('due.id')
        .where('due.state', '=', 'verified')
        .where('due.last_checked_at', '<', dueBefore)
        .where((due) =>
          due.or([
            due('due.method', '<>', 'oidc'),
            due('due.failing_since', 'is not', null),
            due('due.last_checked_at', '<', clock.now() - WORKFLOW_SILENT_MS),
          ]),
        )
        .orderBy('due.last_checked_at')
        .limit(BATCH),
    )
    .where('last_checked_at', '<', dueBefore)
    .returningAll()
    .execute()
  if (taken.length === 0) return []
  const ids = taken.map(({ seller_id }) => seller_id)
  const some = db.selectFrom('seller').select(['id', 'email']).where('id', 'in', ids)
  const sellers = await some.execute()
  const emails = new Map(sellers.map(({ id, email }) => [id, email]))
  return taken.map((claim) => ({ ...claim, email: emails.get(claim.seller_id) ?? '' }))
}
