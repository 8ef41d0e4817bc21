import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { toPublishedPayment } from '../../src/domain/trust/ledger-facts.ts'
import { scoreListings } from '../../src/domain/trust/score-listings.ts'
import { judgeTrust } from '../../src/domain/trust/trust.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { createThousand } from './thousand-listings.ts'

/** Written from the words of `/trust` by somebody who has not read the code. */
const SCRIPT = 'docs/recompute-trust.mjs'
if (!existsSync(SCRIPT)) console.log(`not compared: ${SCRIPT} is not written yet`)

test.runIf(existsSync(SCRIPT))(
  'an independent script agrees on every buyer of every listing',
  () => {
    const { payments, ...about } = createThousand(1)
    const folder = tempFolder('ledger')
    const files = [join(folder, 'payments.ndjson'), join(folder, 'payees.json')] as const
    writeFileSync(
      files[0],
      payments.map((row) => `${JSON.stringify(toPublishedPayment(row))}\n`).join(''),
    )
    writeFileSync(files[1], JSON.stringify(about))
    const text = execFileSync(process.execPath, [SCRIPT, ...files], { maxBuffer: 1e8 }).toString()
    const theirs = new Map(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
        .map((row) => [row.listing, row]),
    )
    const seeds = new Set(about.seeds)
    const { listings, measuredSeeds } = scoreListings({ ...about, payments, seeds })
    expect(measuredSeeds).toBe(4)
    expect(listings.size).toBeGreaterThan(about.payees.length)
    for (const [id, { measured, sharers, buyers }] of listings) {
      const verdict = judgeTrust(measured, sharers, measured.as_of)
      const score = verdict.evidence === 'verified_non_wash_payments' ? verdict.score : null
      const known = Object.fromEntries([...buyers].filter(([, part]) => part > 0).sort())
      const { score: theirScore = null, buyers: theirBuyers = {} } = theirs.get(id) ?? {}
      expect([id, theirScore], id).toEqual([id, score])
      expect(Object.fromEntries(Object.entries(theirBuyers).sort()), id).toEqual(known)
    }
  },
)
