import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toMeasured } from '../domain/listing-samples.ts'
import { createContentFolder, listingText } from '../support/content-folder.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { readCurrentFiles } from '../support/fixture-release.ts'

const DAY = '2026-11-20'
const AT = `${DAY}T06:00:00Z`
const offers = (usd: number) => [
  { rail: 'x402', network: 'eip155:8453', min_usd: usd, max_usd: usd },
]
const price = (usd: number) => ({ min_usd: usd, max_usd: usd, per: 'call' })
const operation = (path: string) => ({ method: 'GET', url: `https://tides.example/${path}` })
const pricing = (usd: number) => ({
  ...{ model: 'per_call', min_usd: usd, max_usd: usd },
  ...{ rails: ['x402'], networks: ['eip155:8453'] },
})
const rows = (row: object) =>
  JSON.stringify({ rows: { row: { added: DAY, facts: {}, ...row } } }, null, 1)
const use = { source: 'merona', from: '2026-11-02', to: DAY, as_of: AT }
const words = (name: string) =>
  `---\nname: ${name}\nsummary: What ${name} says.\ncategories: [geo_weather]\n---\n`

/** Each figure of the content, and how an output may write it. */
const FIGURES: Record<string, RegExp> = {
  'a price of a catalogue’s operation': /0\.0137\b|\b13700\b/,
  'a price of a catalogue’s listing': /0\.0241\b|\b24100\b/,
  'a price that the seller’s own document named': /0\.0319\b|\b31900\b/,
  settlements: /8,?642\b/,
  'what others counted': /6,?543\b/,
  'a test purchase': /2026-11-18|18 Nov/,
  'an uptime': /97\.3/,
  'slow answers': /1,?234\b|1\.2 ?s/,
  'the time of a probe': /\b777\b/,
  'a changed price': /0\.0777/,
  'a package that ran': /9\.8\.7/,
}

const content = createContentFolder({
  'listings/x402/tides.md': words('Tides'),
  'sources/x402-bazaar/rows.json': rows({
    id: 'x402.tides',
    facts: {
      ...{ kind: 'http_api', url: 'https://tides.example', cost: 'paid' },
      ...{ pricing: pricing(0.0137), auth: { type: 'payment' } },
      http: [{ ...operation('now'), price: price(0.0137), offers: offers(0.0137) }],
      sources: [{ source: 'cdp_bazaar', ref: 'https://bazaar.example/tides' }],
    },
  }),
  'sources/merona/rows.json': rows({
    id: 'x402.tides',
    of: 'x402.tides',
    evidence: {
      reported_use: [
        { ...use, what: 'settlements', value: 6543 },
        {
          ...use,
          source: 'vet402',
          to: '2026-11-18',
          what: 'test_purchase',
          value: 1,
          outcome: '200',
        },
      ],
    },
  }),
  'evidence/x402/tides.json': JSON.stringify({
    measured: toMeasured({ as_of: AT, last_settlement_at: AT, settlements_30d: 8642 }),
    signals: { as_of: AT, status: 'online', uptime_30d: 97.3, p95_ms: 1234 },
    interface: {
      at: AT,
      from: 'openapi',
      operations: [{ ...operation('later'), price: price(0.0319), offers: offers(0.0319) }],
    },
    drift: [{ at: AT, what: 'price', name: 'GET /now', was: '0.0777', is: '0.0137', of: 'look' }],
    probes: [1, 2, 3].map((n) => ({
      ...{ at: `2026-11-${17 + n}T06:00:00Z`, protocol: 'x402', outcome: 'spoke', status: 402 },
      ms: 777,
    })),
  }),
  'listings/x402/ferries.md': words('Ferries'),
  'sources/mpp/rows.json': rows({
    id: 'x402.ferries',
    facts: {
      ...{ kind: 'http_api', url: 'https://ferries.example', pricing: pricing(0.0241) },
      sources: [{ source: 'mpp_services', ref: 'https://mpp.example/ferries' }],
    },
  }),
  'listings/mcp/harbour.md': listingText({
    ...{ name: 'Harbour', kind: 'mcp_server', url: 'https://harbour.example', http: null },
    pricing: '{ model: unknown }',
    invoke: '[{ kind: mcp_package, transport: stdio, registry: npm, identifier: harbour }]',
  }),
  'evidence/mcp/harbour.json': JSON.stringify({
    package_run: { at: AT, version: '9.8.7', outcome: 'runs_as_declared' },
  }),
})

type Files = { path: string; text: string }[]
const root = mkdtempSync(join(tmpdir(), 'waypost-aged-'))
function build(asOf: string): Files {
  const outDir = join(root, asOf)
  const env = {
    ...process.env,
    ...FIXTURE_ENV,
    CONTENT_DIR: content.dir,
    OUT_DIR: outDir,
    AS_OF: asOf,
  }
  const built = spawnSync(process.execPath, ['functions/commands/build.ts'], {
    env,
    encoding: 'utf8',
  })
  expect(`${built.stdout}${built.stderr}`).toContain('  pages\n')
  return readCurrentFiles(outDir).map(({ path, bytes }) => ({
    path,
    text: (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1'),
  }))
}

let young: Files
let old: Files
beforeAll(() => {
  young = build('2026-11-26')
  old = build('2027-11-26')
}, 240_000)
afterAll(() => {
  content.remove()
  rmSync(root, { recursive: true })
})

/** The full listing's JSON keeps what is past its limit, with its day. */
const withoutPast = (text: string) =>
  text.replace(/^\{.*"past":.*$/gm, (line) => {
    const { past: _, ...rest } = JSON.parse(line)
    return JSON.stringify(rest)
  })

describe('what is older than its limit leaves every output by itself', () => {
  test.each(Object.entries(FIGURES))('%s', (_, figure) => {
    const saying = (files: Files) => files.filter(({ text }) => figure.test(text))
    const first = saying(young).map(({ path }) => path)
    expect(first).toContainEqual(expect.stringMatching(/public\/listing\/.*html$/))
    const left = saying(old.map(({ path, text }) => ({ path, text: withoutPast(text) })))
    expect(left.map(({ path }) => path)).toEqual([])
    const kept = saying(old).map(({ path }) => path)
    expect(kept).toContainEqual(expect.stringMatching(/public\/api\/v1\/listings\/.*json$/))
  })
})
