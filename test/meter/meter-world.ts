import { parseConfig } from '../../functions/ports/config.ts'
import { createLog } from '../../functions/ports/log.ts'
import { readLedgerFacts } from '../../functions/service/ledger-facts.ts'
import { openStore } from '../../functions/store/open-store.ts'
import type { Store } from '../../functions/store/store.ts'
import type { JsonRpc } from '../../functions/trust/evm-chain.ts'
import { type ChainReport, measure } from '../../functions/trust/measure.ts'
import { type PublishedPayout, readVerifiedSettlements } from '../../functions/trust/meter-rows.ts'
import { toLiveListing } from '../../src/build/listing-files.ts'
import { readContent } from '../../src/content/read.ts'
import { createCatalogue } from '../../src/derive/catalogue.ts'
import { readPayees } from '../../src/derive/payouts.ts'
import { normalizePayout } from '../../src/domain/listing/networks.ts'
import { NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'
import { scoreListings } from '../../src/domain/trust/score-listings.ts'
import { NETWORK, NOON } from '../settlements/samples.ts'
import { createContentFolder } from '../support/content-folder.ts'
import { silentLog } from '../support/stores.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** One SQLite store for a whole file of tests that are not matter of the store, emptied between them. */
export async function openMeterStore() {
  const place = tempFolder('meter')
  const store = await openStore({ STATE_DIR: place, DATABASE_URL: undefined }, silentLog)
  return {
    store,
    empty: () => emptyMeter(store),
    async close() {
      await store.close()
    },
  }
}

export async function emptyMeter({ db }: Store): Promise<void> {
  await db.transaction().execute(async (trx) => {
    for (const table of METER_TABLES) await trx.deleteFrom(table).execute()
  })
}

const METER_TABLES = [
  'settlement',
  'wallet_transfer',
  'meter_payer',
  'meter_cursor',
  'meter_block',
  'payout_proof',
  'claim',
  'job',
] as const

/** A seller that proved some payouts; each listing is `x402.<n>`, unless one is named. */
export async function prove(
  store: Store,
  payouts: readonly string[],
  network = NETWORK,
  named?: { id: string; host: string },
) {
  const { db } = store
  const prefix = `${network}-${named?.id ?? ''}`
  const claims = payouts.map((_, n) => ({
    id: `claim-${prefix}-${n}`,
    listing_id: named?.id ?? `x402.${n}`,
    seller_id: 'seller',
    host: named?.host ?? `${n}.example`,
    method: 'well_known' as const,
    token: `token-${prefix}-${n}`,
    state: 'verified' as const,
    created_at: 1,
    expires_at: 2,
    verified_at: 1,
    last_checked_at: 1,
    failing_since: null,
  }))
  const proofs = payouts.map((payout, n) => ({
    claim_id: `claim-${prefix}-${n}`,
    payout: normalizePayout(`${network}:${payout}`),
    proven_at: 1,
  }))
  await db
    .insertInto('seller')
    .values({ id: 'seller', email: 'seller@shop.example', created_at: 1 })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  if (claims.length === 0) return
  await db.transaction().execute(async (trx) => {
    for (let at = 0; at < claims.length; at += 500) {
      const end = at + 500
      await trx.insertInto('claim').values(claims.slice(at, end)).execute()
      await trx.insertInto('payout_proof').values(proofs.slice(at, end)).execute()
    }
  })
}

/** The meter over a store and a node, with a clock that stands where the chain does. */
export function createMeter(
  store: Store,
  rpc: JsonRpc,
  now: () => number,
  {
    network = NETWORK,
    unsafe = true,
    published = [],
  }: { network?: string; unsafe?: boolean; published?: readonly PublishedPayout[] } = {},
) {
  const logged: string[] = []
  const waits: number[] = []
  const stop = new AbortController()
  const parts = {
    store,
    config: parseConfig({
      RPC_URLS: JSON.stringify({ [network]: 'http://node.example/secret-key' }),
      UNSAFE_ALLOW_PRIVATE_TARGETS: String(unsafe),
    }),
    clock: { now },
    log: createLog((line) => logged.push(line), now),
    createRpc: () => rpc,
    wait: async (ms: number) => void waits.push(ms),
  }
  return {
    logged,
    waits,
    stop,
    async run(since: number | null = null): Promise<ChainReport> {
      const [report] = (await measure(parts, { since, published, signal: stop.signal })) ?? []
      if (report === undefined) throw new Error('nothing was measured')
      return report
    },
    start: (since: number | null = null) =>
      measure(parts, { since, published, signal: stop.signal }),
    /** What the next build is told, by listing id, when each payout counts for its prover. */
    async facts(payouts: readonly string[]) {
      const owned = payouts.map((payout, n) => ({
        payee: `${network}:${payout}`,
        owner: `${n}.example`,
        proof: 'signature' as const,
        listings: [`x402.${n}`],
      }))
      const { asOf, payments, payees } = await readVerifiedSettlements(store, () => owned, now())
      const as_of = new Date(asOf).toISOString()
      const { listings } = scoreListings({ as_of, payments, payees, seeds: new Set() })
      return {
        metered: new Set(payees.flatMap((payee) => payee.listings)),
        settlements: new Map([...listings].map(([id, { measured }]) => [id, measured])),
      }
    },
    async rows() {
      return store.db
        .selectFrom('settlement')
        .select(['payer', 'payee', 'amount', 'block_number', 'log_index'])
        .orderBy('block_number')
        .orderBy('log_index')
        .execute()
    },
  }
}

/** Operators that everybody knows, in `tables/independent_operators.yaml`. */
export const KNOWN_OPERATORS = ['one', 'two', 'three']
const BASE_URL = 'https://waypost.example'
const RULES = { allowPrivate: true }

/** Content with the known operators' table, and these listings. */
export function readMarket(listings: Readonly<Record<string, string>>): Content {
  const folder = createContentFolder({
    'tables/independent_operators.yaml': KNOWN_OPERATORS.map(
      (name) => `- { domain: ${name}.example, name: ${name}, why: Known to everybody. }\n`,
    ).join(''),
    ...listings,
  })
  const { content, faults } = readContent(folder.dir, RULES)
  if (content === null) throw new Error(JSON.stringify(faults))
  return content
}
export type Content = NonNullable<ReturnType<typeof readContent>['content']>

/** What the next build makes of content and the store. */
export async function buildMarket(store: Store, content: Content) {
  const owners = { ...NO_LEDGER_FACTS, ...(await readLedgerFacts(store, NOON)) }
  const payees = () => readPayees(content, owners, BASE_URL)
  const ledger = { ...owners, ...(await readVerifiedSettlements(store, payees, NOON)) }
  const about = { baseUrl: BASE_URL, rules: RULES, asOf: '2026-11-20', ledger }
  const catalogue = createCatalogue(content, about)
  const published = catalogue.listings
    .map(toLiveListing)
    .flatMap(({ id, payout }) =>
      payout.map((one) => ({ payout: one, listing_id: id, host: `${id}.example` })),
    )
  return { ...catalogue, published }
}
