import * as v from 'valibot'
import { hostAt, readPayoutStates } from '../../../src/derive/payouts.ts'
import { NO_LEDGER_FACTS } from '../../../src/domain/trust/ledger-facts.ts'
import { OperatorError } from '../../../src/domain/wire/problems.ts'
import { CalendarDateSchema, DAY_MS } from '../../../src/domain/wire/shapes.ts'
import { systemClock } from '../../ports/clock.ts'
import { type Config, parseConfig } from '../../ports/config.ts'
import {
  createStderrLog,
  readCommandLine,
  runMain,
  UsageError,
  untilStopped,
  wrongCommand,
} from '../../ports/run-main.ts'
import { readLedgerFacts } from '../../service/ledger-facts.ts'
import { openStore } from '../../store/open-store.ts'
import { lockState } from '../../store/sqlite.ts'
import type { Store } from '../../store/store.ts'
import { type ChainReport, measure } from '../../trust/measure.ts'
import type { PublishedPayout } from '../../trust/meter-rows.ts'
import { readSoundContent } from './probe.ts'

const MEASURE_HELP = `Usage: npm run measure -- [--since DATE]

Reads the payments to proven and published payouts since the last run, on the chains in RPC_URLS.
  --since   read again from a date such as 2026-11-01, at most 90 days back; nothing is counted twice
Exit: 0 done, 1 a node or the ledger failed or another process is reading, 2 the command was wrong or
RPC_URLS is empty.`

const MOST_DAYS = 90

/** `npm run measure`: reads the chains on demand, while no server uses the state. */
if (import.meta.main)
  await runMain(async () => {
    const reports = await readChains(process.argv.slice(2))
    if (reports.some(({ stopped }) => stopped !== null)) process.exitCode = 1
  })

/**
 * @param args the arguments of `npm run measure`
 * @returns the printed reports, one per chain
 */
export async function readChains(args: readonly string[]): Promise<ChainReport[]> {
  const since = readSince(args, Date.now())
  const config = parseConfig(process.env)
  if (Object.keys(config.RPC_URLS).length === 0)
    throw new UsageError(
      'RPC_URLS is empty, so no chain can be read: set it to the URL of a node for each chain, such as {"eip155:8453":"https://rpc.example"}.',
    )
  const reports = await run(config, since)
  if (reports === null)
    throw new OperatorError(
      'Another process is already reading the chains, so this command did nothing.',
    )
  for (const report of reports) console.log(toText(report))
  if (reports.length === 0)
    console.log(
      'No payout on a chain in RPC_URLS is proven or published by its seller, so there is nothing to read.',
    )
  return reports
}

async function run(config: Config, since: number | null): Promise<ChainReport[] | null> {
  const log = createStderrLog()
  const signal = untilStopped()
  // With PostgreSQL a server may run at the same time; a job in the store lets only one process read the chains.
  using lock = config.DATABASE_URL === undefined ? await lockState(config.STATE_DIR) : null
  await using store = await openStore(config, log)
  return await measure(
    { store, config, clock: systemClock, log, isAlone: lock !== null },
    { since, published: await readPublished(store, config), signal },
  )
}

/** Payouts that the content publishes for listings. */
async function readPublished(store: Store, config: Config): Promise<PublishedPayout[]> {
  const content = readSoundContent(config, 'measured')
  const ledger = { ...NO_LEDGER_FACTS, ...(await readLedgerFacts(store, Date.now())) }
  const states = readPayoutStates(content, ledger, config.BASE_URL)
  return content.listings.flatMap((file) =>
    (states.get(file.id)?.owned ?? []).map((payout) => ({
      payout,
      listing_id: file.id,
      host: hostAt(file, config.BASE_URL) ?? '',
    })),
  )
}

function toText({ network, payouts, payments, read, requests, stopped }: ChainReport): string {
  const unit = network.startsWith('solana:') ? 'transactions' : 'blocks'
  const seen = `${network}: ${payments} payments to ${payouts} payouts in ${read} ${unit}, ${requests} requests`
  return stopped === null ? seen : `${network}: stopped after ${requests} requests (${stopped})`
}

/** @returns milliseconds since the epoch; null if no date was given */
export function readSince(args: readonly string[], now: number): number | null {
  const { values } = readCommandLine(MEASURE_HELP, { since: { type: 'string' } } as const, 0, args)
  if (values.since === undefined) return null
  const since = v.is(CalendarDateSchema, values.since) ? Date.parse(values.since) : Number.NaN
  if (since <= now && since >= now - MOST_DAYS * DAY_MS) return since
  const example = new Date(now - DAY_MS).toISOString().slice(0, 10)
  throw wrongCommand(
    MEASURE_HELP,
    `--since: expected a UTC date within the last ${MOST_DAYS} days, such as ${example}, got ${JSON.stringify(values.since)}`,
  )
}
