import { createGo } from '../clicks/go.ts'
import { createDisputeRoute } from '../disputes/dispute-form.ts'
import type { Parts } from '../parts/parts.ts'
import { createAnalytics, createMe } from '../sellers/account/me-routes.ts'
import { createClaimCheck, createClaimStart, createClaims } from '../sellers/claims/claim-routes.ts'
import { createOptOut } from '../sellers/claims/opt-out.ts'
import { createPayoutCheck, createPayoutStart } from '../sellers/payouts/payout-routes.ts'
import { createLogin } from '../sellers/sessions/login.ts'
import { createSessionEnd, createSessionStart } from '../sellers/sessions/session-routes.ts'
import type { Handlers } from './app.ts'

/** A handler for each route that lives from the ledger. */
export function createLedgerHandlers(
  parts: Parts,
): Omit<Handlers, 'search' | 'operations' | 'compare_list' | 'changes' | 'lint' | 'propose'> {
  return {
    go: createGo(parts),
    login: createLogin(parts),
    session_start: createSessionStart(parts),
    session_end: createSessionEnd(parts),
    me: createMe(parts),
    claims: createClaims(parts),
    claim_start: createClaimStart(parts),
    claim_check: createClaimCheck(parts),
    analytics: createAnalytics(parts),
    opt_out: createOptOut(parts),
    payout_start: createPayoutStart(parts),
    payout_check: createPayoutCheck(parts),
    dispute: createDisputeRoute(parts),
  }
}
