import { hash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Transaction } from 'kysely'
import type { LiveListing } from '../../src/domain/listing/listing-states.ts'
import { normalizePayout } from '../../src/domain/listing/networks.ts'
import { hostOf } from '../../src/domain/sellers/claim-rules.ts'
import { usdAssetOf } from '../../src/domain/trust/usd-assets.ts'
import { HOUR_MS } from '../../src/domain/wire/shapes.ts'
import type { Parts } from '../features/feature.ts'
import type { Clock } from '../ports/clock.ts'
import type { Config } from '../ports/config.ts'
import type { Log } from '../ports/log.ts'
import { createJobQueue } from '../store/jobs.ts'
import type { Store, Tables } from '../store/store.ts'
import { type CreateJsonRpc, createJsonRpc, type JsonRpc, RpcError } from './evm-chain.ts'
import { Reorganised } from './evm-logs.ts'
import { measureEvm } from './evm-meter.ts'
import {
  type ChainTally,
  type ChainWork,
  type MeteredPayout,
  MeterStopped,
  type PublishedPayout,
  provenPayouts,
} from './meter-rows.ts'
import { measureSolana } from './solana-meter.ts'

/** Milliseconds between two requests to one node: ten a second, as free plans allow. */
const GAP_MS = 100

/** Pauses after a node answers that it is busy; then the run ends, and the next run continues. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000]

/** After a relayed call named a payment, how often and for how long the meter looks for it. */
const LOOK_EVERY_MS = 120_000
const LOOK_FOR_MS = 600_000

/**
 * `MEASURE=on`: the meter reads every hour, and at once after a relayed call whose payment was named in the answer or
 * signed by the payer, until the payment has its confirmations.
 * @param hasWaitedSince whether a call that came after a time (milliseconds) is waiting for its payment
 */
export function createMeterFeature(parts: Parts, hasWaitedSince: (since: number) => boolean) {
  const run = (signal: AbortSignal) => measurePublished(parts, signal)
  return {
    chores: [
      { name: 'meter', everyMs: HOUR_MS, run },
      {
        name: 'meter after calls',
        everyMs: LOOK_EVERY_MS,
        async run(signal: AbortSignal) {
          const since = parts.clock.now() - LOOK_FOR_MS
          if (hasWaitedSince(since) || (await hasHintSince(parts.ledger.store, since)))
            await run(signal)
        },
      },
    ],
  }
}

/** Runs the meter; the log says what it did, chain by chain. */
async function measurePublished(parts: Parts, signal: AbortSignal): Promise<void> {
  const { config, clock, log, ledger, release } = parts
  const { store } = ledger
  if (!config.MEASURE) return
  const published = [...release().listings.values()].flatMap(({ id, url, payout }) =>
    payout.map((one) => ({ payout: one, listing_id: id, host: hostOf(url) ?? '' })),
  )
  const isAlone = store.dialect === 'sqlite'
  await measure({ store, config, clock, log, isAlone }, { since: null, published, signal })
}

interface MeterParts {
  store: Store
  config: Pick<Config, 'RPC_URLS' | 'UNSAFE_ALLOW_PRIVATE_TARGETS'>
  clock: Clock
  log: Log
  createRpc?: CreateJsonRpc
  wait?: Wait
  /** This process holds the state's lock, so the meter's former holder is dead. */
  isAlone?: boolean
}

interface MeasureOptions {
  /** The moment from which to read again, in milliseconds. */
  since: number | null
  /** Payouts that are read without a proof. */
  published: readonly PublishedPayout[]
  signal: AbortSignal
}

export interface ChainReport extends ChainTally {
  network: string
  payouts: number
  requests: number
  /** Why the run ended early; null if it finished. Rows already written stay. */
  stopped: string | null
}

const METER = 'meter'

/**
 * Reads payments to proven and published payouts on chains with a node in `RPC_URLS`, each since
 * the last run, and where the payers' money came from. One process at a time measures; if a chain's
 * node failed, the next run continues that chain.
 * @returns null if another process is measuring
 */
export async function measure(
  parts: MeterParts,
  options: MeasureOptions,
): Promise<ChainReport[] | null> {
  const { store, clock, config, isAlone = false } = parts
  const queue = createJobQueue(store, { name: METER, now: clock.now, isAlone })
  await queue.add([METER])
  if ((await queue.take(1)).length === 0) return null
  const hold: ChainOptions['hold'] = (trx) => queue.hold([METER], trx)
  try {
    const reports: ChainReport[] = []
    const metered = await readMeteredPayouts(store, options.published)
    for (const [network, payouts] of [...metered].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const url = config.RPC_URLS[network]
      if (url !== undefined && !options.signal.aborted)
        reports.push(await measureChain(parts, { ...options, network, url, payouts, hold }))
    }
    return reports
  } finally {
    // Due again at once, also on servers whose clocks are behind this one.
    await queue.finish([METER], 0)
  }
}

interface ChainOptions extends Omit<MeasureOptions, 'published'> {
  network: string
  url: string
  payouts: readonly MeteredPayout[]
  /** False if another process took over. */
  hold(trx?: Transaction<Tables>): Promise<boolean>
}

async function measureChain(
  { store, clock, log, config, createRpc = createJsonRpc, wait = setTimeout }: MeterParts,
  { network, url, payouts, hold: holdMeter, since, signal }: ChainOptions,
): Promise<ChainReport> {
  const allowTestCoins = config.UNSAFE_ALLOW_PRIVATE_TARGETS
  const asset = usdAssetOf(network, { allowTestCoins })
  const rpc = paceRpc(createRpc(url), async (ms) => void (await wait(ms)), signal)
  const report = (tally: ChainTally, stopped: string | null): ChainReport => ({
    network,
    payouts: payouts.length,
    ...tally,
    requests: rpc.requests,
    stopped,
  })
  if (asset === null) return report(NOTHING, 'no coin on this chain is counted as US dollars')
  const hold = async (trx?: Transaction<Tables>) => {
    if (!(await holdMeter(trx))) throw new MeterStopped('another process took over')
  }
  const work: ChainWork = {
    network,
    asset,
    payouts,
    rpc,
    store,
    clock,
    log,
    since,
    confirmations: confirmationsOf(network, { allowTestCoins }),
    onStep: () => hold(),
    write: (change) =>
      store.db.transaction().execute(async (trx) => {
        await hold(trx)
        await change(trx)
      }),
  }
  try {
    const read = network.startsWith('solana:') ? measureSolana : measureEvm
    const done = report(await read(work), null)
    log.info('meter.read', { network, payments: done.payments, requests: done.requests })
    return done
  } catch (error) {
    const isExpected =
      error instanceof RpcError || error instanceof Reorganised || error instanceof MeterStopped
    if (!isExpected) throw error
    log.error('meter.stopped', { network, reason: error.message, requests: rpc.requests })
    return report(NOTHING, error.message)
  }
}

const NOTHING: ChainTally = { payments: 0, read: 0 }

type Wait = (milliseconds: number) => Promise<void>

/** A node client with one request at a time, a pause between requests, and no more requests after `signal`. */
function paceRpc(rpc: JsonRpc, wait: Wait, signal: AbortSignal): JsonRpc & { requests: number } {
  return {
    /** Requests made so far. */
    requests: 0,
    async call(method, params, schema) {
      for (let tries = 0; ; tries += 1) {
        if (this.requests > 0) await orStop(wait(GAP_MS), signal)
        this.requests += 1
        try {
          return await orStop(rpc.call(method, params, schema), signal)
        } catch (error) {
          const pause = PAUSES_MS[tries]
          if (!(error instanceof RpcError && error.kind === 'busy') || pause === undefined)
            throw error
          await orStop(wait(pause), signal)
        }
      }
    },
  }
}

/** A server that stops does not wait for a node. @throws MeterStopped if `signal` came first */
async function orStop<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  if (signal.aborted) throw new MeterStopped('the process is stopping')
  const stop = Promise.withResolvers<never>()
  const onAbort = () => stop.reject(new MeterStopped('the process is stopping'))
  signal.addEventListener('abort', onAbort)
  // The loser of the race may fail later, when nobody listens.
  work.catch(() => {})
  try {
    return await Promise.race([work, stop.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Blocks that make a payment final enough to be counted; deep reorganisations occur on older chains. */
const CONFIRMATIONS: Record<string, number> = { 'eip155:1': 12, 'eip155:137': 128 }
const USUAL_CONFIRMATIONS = 24

/** One block is enough for test networks' coins, which only trials count. */
function confirmationsOf(network: string, rules: { allowTestCoins: boolean }): number {
  return rules.allowTestCoins ? 1 : (CONFIRMATIONS[network] ?? USUAL_CONFIRMATIONS)
}

/** Proven and published payouts, by chain. */
async function readMeteredPayouts({ db }: Store, published: readonly PublishedPayout[]) {
  const proofs = await provenPayouts(db).execute()
  const pages = published.map((one) => ({ ...one, payout: normalizePayout(one.payout) }))
  const known = [...Map.groupBy([...proofs, ...pages], ({ payout }) => payout)]
  const inOrder = known.sort(([a], [b]) => (a < b ? -1 : 1))
  const payouts = inOrder.map(([caip10, of]) => {
    const at = caip10.lastIndexOf(':')
    return {
      network: caip10.slice(0, at),
      payout: caip10.slice(at + 1),
      listings: [...new Set(of.map(({ listing_id }) => listing_id))],
      hosts: [...new Set(of.map(({ host }) => host))],
    }
  })
  return Map.groupBy(payouts, ({ network }) => network)
}

/**
 * Hints from relayed calls: that the meter should read now, and which listing was called. A hint proves nothing and no
 * payment is counted because of it, and a lost hint loses no payment.
 *
 * Security model: sellers and callers write hints as they like. So each listing has a fixed number of slots, a client
 * can use only a few of them, and new hints replace the oldest: the cost of writing does not grow with the number of
 * hints. The meter reads only blocks, so invented hints cost it nothing.
 *
 * Known limitations: many clients together can drive a true hint out of its listing's slots; then its payment is found
 * at the meter's regular time.
 */

/** A listing's slots: this many lanes, each shared by several clients. */
const LANES = 16
const PLACES_A_LANE = 16
/** Maximum number of hints being written at once; further hints are dropped. */
const MOST_WRITING = 64

export function createHints({ store, clock, log }: { store: Store; clock: Clock; log: Log }) {
  const writing = new Set<Promise<void>>()
  return {
    /** Notes the transaction named in an answer. Returns at once. @param client the caller */
    note(
      { id, payout }: Pick<LiveListing, 'id' | 'payout'>,
      client: string,
      transaction: string,
    ): void {
      if (payout.length === 0 || writing.size >= MOST_WRITING) return
      const hint = { listing_id: id, transaction_id: transaction, noted_at: clock.now() }
      const write = insertHint(store, hint, laneOf(client))
        .catch((error: unknown) => {
          const reason = error instanceof Error ? error.name : 'unknown'
          log.error('hint.not_written', { listing: id, error: reason })
        })
        .finally(() => writing.delete(write))
      writing.add(write)
    },
    /** Resolves when everything noted so far is written. */
    written: async () => void (await Promise.all(writing)),
  }
}

async function insertHint(
  { db }: Store,
  hint: Omit<Tables['payment_hint'], 'place'>,
  lane: number,
): Promise<void> {
  const first = lane * PLACES_A_LANE
  const taken = await db
    .selectFrom('payment_hint')
    .select('place')
    .where('listing_id', '=', hint.listing_id)
    .where('place', '>=', first)
    .where('place', '<', first + PLACES_A_LANE)
    .orderBy('noted_at')
    .orderBy('place')
    .execute()
  const isTaken = new Set(taken.map(({ place }) => place))
  const places = Array.from({ length: PLACES_A_LANE }, (_, n) => first + n)
  const place = places.find((one) => !isTaken.has(one)) ?? taken[0]?.place ?? first
  await db
    .insertInto('payment_hint')
    .values({ ...hint, place })
    .onConflict((conflict) => conflict.columns(['listing_id', 'place']).doUpdateSet(hint))
    .execute()
}

function laneOf(client: string): number {
  return Number.parseInt(hash('sha256', client, 'hex').slice(0, 8), 16) % LANES
}

/** Whether any hint was noted since a time (milliseconds). */
export async function hasHintSince({ db }: Store, since: number): Promise<boolean> {
  const found = await db
    .selectFrom('payment_hint')
    .select('place')
    .where('noted_at', '>', since)
    .limit(1)
    .execute()
  return found.length > 0
}
