import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { contentForEachTest } from '../content-fixture.ts'

const content = contentForEachTest()
beforeEach(() => {
  for (const name of ['tides', 'ferries'])
    content.write(
      `listings/x402/${name}.md`,
      `---\nname: ${name}\nkind: http_api\nurl: https://api.${name}.example/now\nsummary: About ${name}.\ncategories: [data_weather]\ntags: []\npricing: { model: per_call, min_usd: 0.01, max_usd: 0.01, rails: [x402], networks: ["eip155:8453"] }\nsources: [{ source: vendor_docs, ref: "https://${name}.example" }]\nadded: 2026-11-20\n---\n`,
    )
})

/** A table as a maintainer writes it, read by an importer. */
function seed(importer: string, lines: readonly string[]) {
  const from = join(content.root, 'table.csv')
  writeFileSync(from, `# a remark\n${lines.join('\n')}\n`)
  return content.seed({ importer, from })
}

test('a share of a payee becomes the payee’s total, with the number of hosts; wallets are no shares', async () => {
  await seed('merona', [
    'listing,from,to,settlements,volume_usd,payers,share_of,flag',
    'x402.tides,2026-07-04,2026-07-20,90,1.23,7,4,',
    'x402.ferries,2026-07-05,2026-07-06,12,0.1,3,,reciprocal',
  ])
  const window = { from: '2026-07-04', to: '2026-07-20', as_of: '2026-07-20T00:00:00Z' }
  const by = { source: 'merona', ...window, shared_with: 4 }
  expect(content.evidence('listings/x402/tides.md').reported_use).toEqual([
    { ...by, what: 'payers', value: 7 },
    { ...by, what: 'settlements', value: 360 },
    { ...by, what: 'volume_usd', value: 4.92 },
  ])
  expect(content.evidence('listings/x402/ferries.md').reported_use).toContainEqual(
    expect.objectContaining({ what: 'settlements', value: 12, outcome: 'reciprocal' }),
  )
  expect(content.fields('listings/x402/tides.md').get('sources')).toContainEqual({
    source: 'merona',
    ref: 'https://github.com/jywy78kgrf-create/merona',
  })
})

test('counts of several sources stand side by side, and a second run changes nothing', async () => {
  const tests = ['listing,from,to,http', 'x402.tides,2026-09-28,2026-09-28,404']
  await seed('vet402', tests)
  await seed('x402-bazaar-doctor', [
    'listing,from,to,transfers,volume_usd,senders,shared_with',
    'x402.tides,2026-08-24,2026-08-25,13,0.5,2,3',
  ])
  const before = content.snapshot()
  await seed('vet402', tests)
  const { [join(content.root, 'table.csv')]: _, ...after } = content.snapshot()
  expect(before).toMatchObject(after)
  const uses = content.evidence('listings/x402/tides.md').reported_use ?? []
  expect(
    uses.map(({ what, value, shared_with, outcome }) => [what, value, shared_with, outcome]),
  ).toEqual([
    ['test_purchase', 1, undefined, '404'],
    ['volume_usd', 0.5, 3, undefined],
    ['transfers', 13, 3, undefined],
    ['senders', 2, 3, undefined],
  ])
})

test('a line about no listing, or with a word for a number, is refused and adds none', async () => {
  const { refused, plan } = await seed('merona', [
    'listing,from,to,settlements',
    'x402.nobody,2026-07-04,2026-07-20,90',
    'x402.tides,2026-07-04,2026-07-20,many',
    'x402.ferries,2026-07-04,2026-07-20,3',
  ])
  expect(refused.map(({ name, reason }) => `${name} ${reason}`).sort()).toEqual([
    'x402.nobody not_listed',
    'x402.tides invalid_row',
  ])
  expect([Object.keys(plan.file.rows), plan.waiting]).toEqual([['x402.ferries'], 0])
})

test('a table of other columns, or no file, stops the run with what would be right', async () => {
  const lines = ['listing,from,to', 'x402.tides,2026-07-04']
  await expect(seed('merona', lines)).rejects.toThrow(
    /line 3: expected .*3 comma-separated values, one for each column, got x402/,
  )
  await expect(content.seed({ importer: 'merona', from: null })).rejects.toThrow(
    'merona: expected --from with a file',
  )
})

test('payees are kept as proposals, with the number of hosts that are paid there', async () => {
  const [own, shared] = ['ab', 'cd'].map((byte) => `eip155:8453:0x${byte.repeat(20)}`)
  const run = await seed('merona', [
    'listing,from,to,settlements,payees',
    `x402.tides,2026-07-04,2026-07-20,90,${own}  ${shared}/4`,
    `x402.ferries,2026-07-04,2026-07-20,,${own}`,
  ])
  expect(run.refused).toEqual([])
  const rows = content.rows('merona')
  expect(rows['x402.tides']?.payees).toEqual([{ payee: own }, { payee: shared, shared_with: 4 }])
  expect(rows['x402.ferries']).toMatchObject({ payees: [{ payee: own }] })
  expect(rows['x402.ferries']).not.toHaveProperty('evidence')
  const wrong = await seed('merona', [
    'listing,from,to,payees',
    'x402.tides,2026-07-04,2026-07-20,0xabc',
  ])
  expect(wrong.refused).toEqual([
    expect.objectContaining({ detail: expect.stringContaining('CAIP-10') }),
  ])
})
