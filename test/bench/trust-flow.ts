import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createLog } from '../../functions/ports/log.ts'
import { openStore } from '../../functions/store/open-store.ts'
import { SQLITE_FILE } from '../../functions/store/sqlite.ts'
import { readVerifiedSettlements } from '../../functions/trust/meter-rows.ts'
import type { LedgerPayee } from '../../src/domain/trust/ledger-facts.ts'
import { scoreListings } from '../../src/domain/trust/score-listings.ts'

/**
 * From the ledger's rows of ninety days to every score: CPU seconds and memory, for 600,000 payments of a
 * thousand sellers, and for one seller with 200,000 payers.
 */
const NETWORK = 'eip155:8453'
const DAY_MS = 86_400_000
const NOW = Date.UTC(2026, 10, 20, 12)
const SEEDS = 5

interface Case {
  name: string
  payments: number
  payers: number
  sellers: number
}

const CASES: Record<string, Case> = {
  flow: { name: '600,000 payments', payments: 600_000, payers: 40_000, sellers: 1_000 },
  crowd: { name: '200,000 payers of one', payments: 220_000, payers: 200_000, sellers: 6 },
}

const one = CASES[process.argv[2] ?? 'flow']
if (one === undefined) throw new Error(`expected one of ${Object.keys(CASES).join(', ')}`)
await run(one)

async function run({ name, ...size }: Case): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'waypost-flow-'))
  const log = createLog(() => {}, Date.now)
  const store = await openStore({ STATE_DIR: place, DATABASE_URL: undefined }, log)
  try {
    fill(join(place, SQLITE_FILE), size)
    const payees = Array.from(
      { length: size.sellers },
      (_, n): LedgerPayee => ({
        payee: `${NETWORK}:${address(n)}`,
        owner: `shop-${n}.example`,
        proof: 'published',
        listings: [`x402.shop-${n}`],
      }),
    )
    globalThis.gc?.()
    const [cpu, rss] = [process.cpuUsage(), process.memoryUsage.rss()]
    const facts = await readVerifiedSettlements(store, () => payees, NOW)
    const read = process.cpuUsage(cpu)
    const as_of = new Date(facts.asOf).toISOString()
    const seeds = new Set(payees.slice(0, SEEDS).map(({ owner }) => owner))
    const { listings } = scoreListings({ ...facts, as_of, seeds })
    const all = process.cpuUsage(cpu)
    const peak = process.resourceUsage().maxRSS / 1024
    const seconds = ({ user, system }: NodeJS.CpuUsage) => ((user + system) / 1e6).toFixed(1)
    console.log(
      `${name}: ${listings.size} scores of ${facts.payments.length} payments, ${seconds(all)} CPU s (${seconds(read)} to read and judge), peak ${peak.toFixed(0)} MiB (${(rss / 2 ** 20).toFixed(0)} before)`,
    )
  } finally {
    await store.close()
    rmSync(place, { recursive: true })
  }
}

/** Straight into the file: a quarter to known sellers, some prices, a payment to each seller at least. */
function fill(file: string, { payments, payers, sellers }: Omit<Case, 'name'>): void {
  const db = new DatabaseSync(file)
  db.exec('begin')
  const payment = db.prepare(
    'insert into settlement (network, transaction_id, log_index, listing_id, payer, payee, amount, micro_usd, settled_at, block_number, scheme) values (?,?,?,?,?,?,?,?,?,?,?)',
  )
  const payer = db.prepare(
    'insert or ignore into meter_payer (network, payer, first_block, first_paid_at, is_traced) values (?,?,1,1,1)',
  )
  const cursor = db.prepare(
    'insert into meter_cursor (network, payout, first_block, next_block, read_until) values (?,?,1,2,?)',
  )
  for (let n = 0; n < sellers; n += 1) cursor.run(NETWORK, address(n), NOW)
  for (let n = 0; n < payments; n += 1) {
    const who = 1_000_000 + ((n * 7_919) % payers)
    const whom = n % 4 === 0 ? n % SEEDS : (n * 31) % sellers
    const micros = 1_000 * (1 + ((n * 13) % 50))
    // As the meter writes them: in the order of the chain.
    const at = NOW - Math.floor(((payments - n) / payments) * 89 * DAY_MS)
    const transaction = `0x${(n * 2_654_435_761).toString(16).padStart(64, 'a7')}`
    payer.run(NETWORK, address(who))
    payment.run(
      ...[NETWORK, transaction, 1, '', address(who), address(whom), String(micros), micros],
      ...[at, Math.floor(at / 2_000) - 800_000_000, 'eip3009'],
    )
  }
  db.exec('commit')
  db.close()
}

function address(n: number): string {
  return `0x${n.toString(16).padStart(40, '0')}`
}
