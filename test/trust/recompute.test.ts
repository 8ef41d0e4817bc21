import * as v from 'valibot'
import { expect, test } from 'vitest'
import { scoreFiles } from '../../packages/client/cli/verify.ts'
import { writeTrustLedger } from '../../src/build/rows.ts'
import { readContent } from '../../src/content/read.ts'
import { createCatalogue } from '../../src/derive/catalogue.ts'
import {
  type LedgerFiles,
  LedgerPaymentSchema,
  NO_LEDGER_FACTS,
  TrustPayeesSchema,
} from '../../src/domain/trust/ledger-facts.ts'
import { createContentFolder, listingText } from '../support/content-folder.ts'
import { createKeptFiles } from '../support/kept-files.ts'
import { AS_OF, createThousand } from './thousand-listings.ts'

const RULES = { allowPrivate: false }

/** A score is what the published files say. */
test('the files alone give every digit of every listing', () => {
  const { seeds, payees, payments } = createThousand(7)
  const folder = createContentFolder({
    'tables/independent_operators.yaml': seeds
      .map((domain) => `- { domain: ${domain}, name: ${domain}, why: Known to everybody. }\n`)
      .join(''),
    ...Object.fromEntries(
      payees.flatMap(({ payee, owner, listings }) =>
        listings.map((id) => [
          `listings/${id.replace('.', '/')}.md`,
          listingText({ url: `https://${owner}/${id}`, payout: `["${payee}"]` }),
        ]),
      ),
    ),
  })
  const { content } = readContent(folder.dir, RULES)
  if (content === null) throw new Error('expected content without faults')
  const ledger = { ...NO_LEDGER_FACTS, asOf: AS_OF, payments, payees }
  const catalogue = createCatalogue(content, {
    baseUrl: 'https://waypost.example',
    rules: RULES,
    asOf: '2026-11-22',
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
    as_of: new Date(AS_OF).toISOString(),
    // In another order: none is meant.
    payments: lines.map((line) => v.parse(LedgerPaymentSchema, JSON.parse(line))).reverse(),
  }
  const scored = catalogue.listings.filter(
    ({ trust }) => trust.evidence === 'verified_non_wash_payments',
  )
  expect(scored.length).toBeGreaterThan(catalogue.listings.length * 0.9)
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
