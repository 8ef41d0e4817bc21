import { ON_DEMAND_PAGES, ROUTES } from '../../src/domain/wire/routes.ts'
import { HOUR_MS, MINUTE_MS } from '../../src/domain/wire/shapes.ts'
import { createGo } from '../clicks/go.ts'
import { applyRetention } from '../clicks/retention.ts'
import type { Feature, Parts, Routes } from '../features/feature.ts'
import { createChangesFeature } from '../feeds/changes.ts'
import { createReportsFeature } from '../feeds/reports.ts'
import { createAnonymousProbes, createCheck, createCheckPage, createLint } from '../probes/lint.ts'
import { probeAsChore } from '../probes/schedule.ts'
import { createKeyDirectory } from '../probes/sign.ts'
import { createProtocolsFeature } from '../protocols/protocols.ts'
import { createCallObserver } from '../receipts/observe-call.ts'
import { createReceiptsFeature, openReceipts } from '../receipts/receipts.ts'
import { RELAY_LIMITS } from '../relay/call-plan.ts'
import { createRelay, toRelayFeature } from '../relay/relay.ts'
import { createCompareList, createComparePage, createKit, createPlan } from '../search/endpoints.ts'
import { createFindOperations, createOperationsSearch } from '../search/find-operations.ts'
import { createReleaseSearch, createSearchPath, whyNotListed } from '../search/search-routes.ts'
import { createSellersFeature } from '../sellers/pages.ts'
import { createMeterFeature } from '../trust/measure.ts'
import type { Metrics } from './prometheus.ts'

/**
 * Every feature of the service, once. To add a feature, write it and name it here: its addresses
 * are rows in the domain's tables, and the compiler reports addresses that no feature answers.
 */
export function createFeatures(parts: Parts, metrics: Metrics | null): readonly Feature[] {
  const receipts = openReceipts({ ...parts, store: parts.ledger.store })
  const known = toKnown(parts)
  const observer = createCallObserver({ ...parts, ...known, receipts })
  const relay = createRelay(parts, RELAY_LIMITS, metrics?.relayed, observer)
  return complete([
    toRelayFeature(relay),
    // Waits until calls that were just answered have been judged.
    { close: observer.idle },
    { close: receipts.close },
    createSearchFeature(parts),
    ...createLedgerFeatures(parts),
    createMeterFeature(parts, receipts.hasWaitedSince),
    { chores: [{ name: 'payments', everyMs: MINUTE_MS, run: receipts.findPayments }] },
    createProbesFeature(parts, known),
    createChangesFeature(parts),
    createProtocolsFeature(parts, relay),
  ])
}

/** Features that read and write the ledger, in the order of their chores. */
export function createLedgerFeatures(parts: Parts) {
  return [
    { routes: { go: createGo(parts) } },
    createUpkeepFeature(parts),
    createSellersFeature(parts),
    createReportsFeature(parts),
    createReceiptsFeature(parts),
    { routes: { probe_keys: createKeyDirectory(parts) } },
  ] as const
}

/** Chores on the ledger that belong to no other feature. */
function createUpkeepFeature({ ledger, clock }: Parts) {
  return {
    chores: [
      { name: 'counts', everyMs: 5_000, run: () => ledger.usage.flush() },
      // Not awaited, because a mail server may hang.
      { name: 'mails', everyMs: 10_000, run: async () => ledger.mails.sendSoon() },
      {
        name: 'retention',
        everyMs: HOUR_MS,
        run: () => applyRetention(ledger.store, clock.now()),
      },
    ],
  }
}

function createSearchFeature(parts: Parts) {
  const compare = createComparePage(parts)
  const operations = createOperationsSearch(createFindOperations(parts))
  return {
    paths: [
      createSearchPath(ROUTES.search.path, parts, createReleaseSearch(parts, 'api')),
      createSearchPath(ROUTES.operations.path, parts, operations),
    ],
    routes: {
      compare_list: createCompareList(parts),
      kit: createKit(parts),
      plan: createPlan(parts),
    },
    pages: {
      [ON_DEMAND_PAGES.search]: {},
      [ON_DEMAND_PAGES.chosen]: {
        compute: async (target: string) => ({ chosen: await compare(target) }),
      },
    },
  }
}

type Known = ReturnType<typeof toKnown>

/** What the release knows about addresses. */
function toKnown({ release }: Parts) {
  return {
    plans: () => release().protocolData.probePlans(),
    declared: () => release().protocolData.declaredCalls(),
    whyNotListed: (url: string) => whyNotListed(release(), url),
  }
}

function createProbesFeature(parts: Parts, known: Known) {
  const check = createCheck({ ...parts, ...known, runs: createAnonymousProbes(parts) })
  const show = createCheckPage(parts, check)
  return {
    routes: { lint: createLint(parts, check) },
    pages: {
      [ON_DEMAND_PAGES.checked]: {
        prepare: async (req, res) => ({ checked: await show(req, res) }),
      },
    },
    chores: [
      {
        name: 'probes',
        everyMs: HOUR_MS,
        async run(signal) {
          if (parts.config.PROBE) await probeAsChore({ ...parts, plans: known.plans }, signal)
        },
      },
    ],
  } satisfies Feature
}

type KeysOf<F> = F extends { routes: infer R } ? keyof R : never
type Missing<List extends readonly Feature[]> = Exclude<keyof Routes, KeysOf<List[number]>>

/** A type check: compiles only if the listed features together answer every route. */
function complete<const List extends readonly Feature[]>(
  features: List & ([Missing<List>] extends [never] ? unknown : { missing: Missing<List> }),
): readonly Feature[] {
  return features
}
