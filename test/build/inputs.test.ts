import { expect, test } from 'vitest'
import { digestInputs } from '../../src/build/inputs.ts'
import { NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'
import { createContentFolder, listingText } from '../support/content-folder.ts'

test('a release is another one where a single character of the content is', () => {
  const folder = createContentFolder({ 'listings/x402/a.md': listingText() })
  const settings = {
    ...{ contentDir: folder.dir, baseUrl: 'https://waypost.example', issuer: '' },
    ...{ allowPrivate: false, asOf: '2026-11-01' },
  }
  const digest = digestInputs(settings, NO_LEDGER_FACTS)
  expect(digestInputs(settings, NO_LEDGER_FACTS)).toBe(digest)
  folder.write('listings/x402/a.md', listingText({ name: 'Example Feather' }))
  expect(digestInputs(settings, NO_LEDGER_FACTS)).not.toBe(digest)
})

test('a release is another one where a claim was proved at another time, whatever order the ledger gives', () => {
  const folder = createContentFolder({ 'listings/x402/a.md': listingText() })
  const settings = {
    ...{ contentDir: folder.dir, baseUrl: 'https://waypost.example', issuer: '' },
    ...{ allowPrivate: false, asOf: '2026-11-01' },
  }
  const digestOf = (...rows: [string, number][]) =>
    digestInputs(settings, { ...NO_LEDGER_FACTS, provedAt: new Map(rows) })
  expect(digestOf(['x402.a', 1], ['x402.b', 2])).toBe(digestOf(['x402.b', 2], ['x402.a', 1]))
  expect(digestOf(['x402.a', 1])).not.toBe(digestOf(['x402.a', 2]))
})
