import type { Handlers } from './app.ts'
import { createGo } from './go.ts'
import type { Parts } from './parts.ts'
import { createLogin } from './sellers/login.ts'
import { createSessionEnd, createSessionStart } from './sellers/session-routes.ts'

/** A handler for each route that lives from the ledger. */
export function createLedgerHandlers(parts: Parts): Partial<Handlers> {
  return {
    go: createGo(parts),
    login: createLogin(parts),
    session_start: createSessionStart(parts),
    session_end: createSessionEnd(parts),
  }
}
