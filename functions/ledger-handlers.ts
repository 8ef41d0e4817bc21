import type { Handlers } from './app.ts'
import { createGo } from './go.ts'
import type { Parts } from './parts.ts'
import { createClaimCheck, createClaimStart, createClaims } from './sellers/claim-routes.ts'
import { createLogin } from './sellers/login.ts'
import { createAnalytics, createMe } from './sellers/me-routes.ts'
import { createOptOut } from './sellers/opt-out.ts'
import { createSessionEnd, createSessionStart } from './sellers/session-routes.ts'

/** A handler for each route that lives from the ledger. */
export function createLedgerHandlers(parts: Parts): Omit<Handlers, 'search'> {
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
  }
}
