import * as v from 'valibot'
import { expect, test } from 'vitest'
import { scoreFiles } from '../../packages/client/cli/verify.ts'
import { writeTrustLedger } from '../../src/build/rows.ts'
import { readContent } from '../../src/content/read.ts'
import { createCatalogue } from '../../src/derive/catalogue.ts'
import {
  type LedgerFiles,
  type LedgerPayee,
  type LedgerPayment,
  LedgerPaymentSchema,
  NO_LEDGER_FACTS,
  TrustPayeesSchema,
} from '../../src/domain/trust/ledger-facts.ts'
import { DAY_MS, NETWORK, NOON, TOKEN, wallet } from '../settlements/samples.ts'
import { createContentFolder, listingText } from '../support/content-folder.ts'
import { createKeptFiles } from '../support/kept-files.ts'
import { createDraws } from '../support/random.ts'

/** A score is what the published files say. */
const SEEDS = ['one', 'two', 'three']
const LISTINGS = 1_000
const RULES = { allowPrivate: false }
const BASE_URL = 'https://waypost.example'

const idOf = (n: number) => (n < SEEDS.length ? `x402.${SEEDS[n]}` : `x402.s${n}`)
const hostOf = (n: number) => (n < SEEDS.length ? `${SEEDS[n]}.example` : `s${n}.example`)

const payees = (): LedgerPayee[] =>
  Array.from({ length: LISTINGS }, (_, n) => ({
    payee: `${NETWORK}:${wallet(n)}`,
    owner: hostOf(n),
    proof: 'published' as const,
    listings: [idOf(n)],
  }))

function aRow(n: number, buyer: number, usd_micro: number, daysAgo: number): LedgerPayment {
  rows += 1
  return {
    network: NETWORK,
    transaction: `0x${rows.toString(16).padStart(64, '0')}`,
    log: rows % 7,
    at: NOON - daysAgo * DAY_MS,
    asset: TOKEN,
    amount: String(usd_micro),
    usd_micro,
    payer: wallet(5_000 + buyer),
    payee: wallet(n),
    scheme: 'eip3009',
    listings: [idOf(n)],
    verdict: rows % 11 === 0 ? 'round_trip' : 'counted',
  }
}
let rows = 0

/** A market of a thousand sellers, three of them known, whose buyers buy here and there. */
function aMarket(): LedgerPayment[] {
  const random = createDraws(7)
  return Array.from({ length: 1_500 }, (_, buyer) => [
    ...SEEDS.flatMap((_, seed) =>
      random.below(3) > 0
        ? [aRow(seed, buyer, 500_000 + random.below(900_000), random.below(30))]
        : [],
    ),
    ...Array.from({ length: 8 }, () =>
      aRow(3 + random.below(LISTINGS - 3), buyer, 1_000 + random.below(300_000), random.below(60)),
    ),
  ]).flat()
}

test('the files alone give every digit of a thousand listings', () => {
  const folder = createContentFolder({
    'tables/independent_operators.yaml': SEEDS.map(
      (name) => `- { domain: ${name}.example, name: ${name}, why: Known to everybody. }\n`,
    ).join(''),
    ...Object.fromEntries(
      Array.from({ length: LISTINGS }, (_, n) => [
        `listings/${idOf(n).replace('.', '/')}.md`,
        listingText({ url: `https://${hostOf(n)}/buy`, payout: `["${NETWORK}:${wallet(n)}"]` }),
      ]),
    ),
  })
  const { content } = readContent(folder.dir, RULES)
  folder.remove()
  if (content === null) throw new Error('expected content without faults')
  const ledger = { ...NO_LEDGER_FACTS, asOf: NOON, payments: aMarket(), payees: payees() }
  const catalogue = createCatalogue(content, {
    baseUrl: BASE_URL,
    rules: RULES,
    asOf: '2026-11-20',
    ledger,
  })
  const kept = createKeptFiles()
  writeTrustLedger(kept.folder, ledger, catalogue.trustPayees)
  const [plain, about] = ['payments.ndjson', 'payees.json'].map((name) =>
    kept.read(`public/api/v1/trust/${name}`).toString(),
  )
  const lines = (plain ?? '').trimEnd().split('\n')
  const files: LedgerFiles = {
    ...v.parse(TrustPayeesSchema, JSON.parse(about ?? '')),
    as_of: new Date(NOON).toISOString(),
    // In another order: none is meant.
    payments: lines.map((line) => v.parse(LedgerPaymentSchema, JSON.parse(line))).reverse(),
  }
  const scored = catalogue.listings.filter(
    ({ trust }) => trust.evidence === 'verified_non_wash_payments',
  )
  expect(scored.length).toBeGreaterThan(900)
  const scoreOf = scoreFiles(files)
  for (const { id, trust } of catalogue.listings) {
    const own = scoreOf(id)
    expect(own.evidence, id).toBe(trust.evidence)
    if (trust.evidence !== 'verified_non_wash_payments') continue
    expect(own, id).toMatchObject({
      score: trust.score,
      buyers: trust.measured.verified_buyers_30d,
      settlements: trust.measured.settlements_30d,
      volume_usd: trust.measured.volume_usd_30d,
    })
  }
})
