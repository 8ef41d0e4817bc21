import { once } from 'node:events'
import type { Server } from 'node:http'
import { resolve } from 'node:path'
import { createGo } from '../clicks/go.ts'
import { createCompareList, createComparePage } from '../compare/chosen-comparison.ts'
import { createChanges } from '../feeds/changes.ts'
import { createProblems } from '../http/answers.ts'
import { createKit } from '../kit/kit-route.ts'
import type { Mailer } from '../mails/mailer.ts'
import { type Metrics, NO_METRICS } from '../metrics/metrics.ts'
import { createResolver } from '../net/resolver.ts'
import { startChores } from '../operations/chores.ts'
import { openLedger } from '../operations/open-ledger.ts'
import type { Parts } from '../parts/parts.ts'
import { type Clock, systemClock } from '../ports/clock.ts'
import type { Config } from '../ports/config.ts'
import type { Log } from '../ports/log.ts'
import { createAnonymousProbes, createCheck, createCheckPage, createLint } from '../probes/lint.ts'
import { createDoors } from '../protocols/protocols.ts'
import { createCallObserver } from '../receipts/observe-call.ts'
import { createReceiptRoutes, openReceipts, type Receipts } from '../receipts/receipts.ts'
import { RELAY_LIMITS } from '../relay/call-plan.ts'
import { createRelay } from '../relay/relay.ts'
import { createOnDemandPages, createPageGate } from '../release/on-demand-pages.ts'
import { createReleaseHolder, type ReleaseHolder } from '../release/release-holder.ts'
import { createReportPage, createReportRoute } from '../reports/report-form.ts'
import { createFindOperations, createOperationsSearch } from '../search/find-operations.ts'
import { whyNotListed } from '../search/listed-address.ts'
import {
  createPageSearch,
  createReleaseSearch,
  createSearchDoors,
  createSearchRoute,
} from '../search/search-doors.ts'
import { createAnalytics, createMe, createSellerMails } from '../sellers/account.ts'
import { createClaimCheck } from '../sellers/claim-checks.ts'
import { createClaimStart, createClaims, createOptOut } from '../sellers/claims.ts'
import { createDashboardPage, createSignInPage } from '../sellers/pages.ts'
import { createPayoutCheck, createPayoutStart, createPayoutWithdrawal } from '../sellers/payouts.ts'
import { createLogin, createSessionEnd, createSessionStart } from '../sellers/sign-in.ts'
import { createFailureReport } from '../server/node-answers.ts'
import { createRateLimits } from '../server/rate-limits.ts'
import { createSharedCounters } from '../store/counter.ts'
import { createPlan } from '../tasks/plan-tasks.ts'
import type { Handlers } from './app.ts'
import { createWaypostServer } from './server.ts'

export interface Service {
  server: Server
  parts: Parts
  receipts: Receipts
  /** Looks for a new release now; a timer does it once a second. */
  refresh(): Promise<void>
  /** Verifies what loading the release did not. @throws ReleaseError when damaged */
  verify(): Promise<void>
  /** Stops accepting, lets requests in flight finish (bounded), flushes. */
  close(): Promise<void>
}

export interface ServiceOptions {
  config: Config
  log: Log
  clock?: Clock
  /** Overrides the environment. */
  mailer?: Mailer
}

/** How long in-flight work may take after a stop was requested (milliseconds). */
const GRACE = 10_000

/**
 * Composes the whole service over the published release. It does not listen yet.
 *
 * @throws ReleaseError without a release, or with one that was built for another `BASE_URL`.
 */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { config, log } = options
  const { OUT_DIR, BASE_URL: baseUrl } = config
  const releases = await createReleaseHolder({ outDir: resolve(OUT_DIR), baseUrl, log })
  const parts = await createParts(options, releases)
  const metrics = await createMetrics(parts, releases)
  const receipts = openReceipts({ store: parts.ledger.store, clock: parts.clock, log })
  const { server, observer } = createLayers(parts, metrics, receipts)
  const chores = startChores(parts, receipts)
  return {
    server,
    parts,
    receipts,
    refresh: releases.refresh,
    verify: releases.verify,
    async close() {
      releases.close()
      chores.stop()
      await stopServer(server)
      await chores.idle()
      // Calls whose answer was just sent are still to be judged.
      await observer.idle()
      await receipts.close()
      await parts.ledger.close()
    },
  }
}

async function createParts(
  { config, log, clock = systemClock, mailer }: ServiceOptions,
  releases: ReleaseHolder,
): Promise<Parts> {
  const resolver = createResolver(config.DNS_SERVERS)
  const ledger = await openLedger({
    config,
    log,
    clock,
    siteName: () => releases.current().site.name,
    ...(mailer && { mailer }),
  })
  return {
    config,
    problem: createProblems(config.BASE_URL),
    clock,
    log,
    resolver,
    limits: createRateLimits(config, createSharedCounters(ledger.store, clock)),
    ledger,
    release: releases.current,
  }
}

/** The library is loaded only where metrics are on. */
async function createMetrics(parts: Parts, { publishedAt }: ReleaseHolder): Promise<Metrics> {
  const { config, clock, ledger } = parts
  if (config.METRICS_TOKEN === undefined) return NO_METRICS
  const { createPrometheusMetrics } = await import('../metrics/prometheus.ts')
  const { store, clicks } = ledger
  return createPrometheusMetrics({ store, clock, publishedAt, clicks: clicks.tally })
}

function createLayers(parts: Parts, metrics: Metrics, receipts: Receipts) {
  const search = createSearchDoors(parts, createReleaseSearch(parts, 'api'))
  const known = checkedBy(parts)
  const check = createCheck({ ...parts, ...known, runs: createAnonymousProbes(parts) })
  const ledgerHandlers = createLedgerHandlers(parts)
  const handlers: Handlers = {
    ...ledgerHandlers,
    search: search.route,
    operations: createSearchRoute(parts, createOperationsSearch(createFindOperations(parts))),
    compare_list: createCompareList(parts),
    kit: createKit(parts),
    plan: createPlan(parts),
    lint: createLint(parts, check),
    changes: createChanges(parts),
  }
  const observer = createCallObserver({ ...parts, ...known, receipts })
  const relay = createRelay(parts, RELAY_LIMITS, metrics.relayed, observer)
  const prepare = {
    checked: createCheckPage(parts, check),
    dashboard: createDashboardPage(parts, ledgerHandlers),
    signIn: createSignInPage(parts, ledgerHandlers),
    reported: createReportPage(parts),
  }
  const server = createWaypostServer({
    ...{ parts, handlers, metrics, doors: createDoors(parts, relay), relay },
    search: search.door,
    pages: createOnDemandPages({
      release: parts.release,
      baseUrl: parts.config.BASE_URL,
      search: createPageSearch(parts),
      gate: createPageGate(parts),
      compare: createComparePage(parts),
      prepare,
      report: createFailureReport(parts),
    }),
  })
  return { server, observer }
}

/** The addresses that the release knows. */
function checkedBy({ release }: Parts) {
  return {
    plans: () => release().doorData.probePlans(),
    declared: () => release().doorData.declaredCalls(),
    whyNotListed: (url: string) => whyNotListed(release(), url),
  }
}

async function stopServer(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  const force = setTimeout(() => server.closeAllConnections(), GRACE)
  await closed
  clearTimeout(force)
}

export function createLedgerHandlers(
  parts: Parts,
): Omit<Handlers, 'search' | 'operations' | 'compare_list' | 'kit' | 'plan' | 'changes' | 'lint'> {
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
    seller_mails: createSellerMails(parts),
    opt_out: createOptOut(parts),
    payout_start: createPayoutStart(parts),
    payout_withdraw: createPayoutWithdrawal(parts),
    payout_check: createPayoutCheck(parts),
    report: createReportRoute(parts),
    ...createReceiptRoutes(parts),
  }
}
