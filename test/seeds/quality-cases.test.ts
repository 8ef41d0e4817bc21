import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { findCallableUrlFault } from '../../seeds/facts/refusal.ts'
import { normalizeIdentifier, parseRegistryRow } from '../../seeds/facts/server-json.ts'
import { mapServer } from '../../seeds/sources/mcp-registry.ts'
import { toPlainText } from '../../seeds/text/plain-text.ts'
import { parseFrontMatter } from '../../src/content/listing-file.ts'
import { renderDescription } from '../../src/derive/description.ts'
import { findIdentifierFault } from '../../src/domain/listing/invoke.ts'
import { createListingFactsSchema } from '../../src/domain/listing/listing-facts.ts'
import { NameSchema, SummarySchema } from '../../src/domain/listing/listing-text.ts'
import { cutText } from '../../src/domain/wire/cut-text.ts'
import { readJsonLines } from '../bench/shared-data.ts'

/**
 * Defects that real lists have, and a small list of them made for this test. Each kind is refused, or
 * comes out harmless; a kind that nobody thought of here fails the test.
 */
const OWN = join(import.meta.dirname, '../fixtures/quality/cases.ndjson')
const FILE = join(
  process.env.SHARED_DIR ?? join(import.meta.dirname, '../../../shared'),
  'data/quality/cases.ndjson',
)
const CaseSchema = v.object({
  case: v.string(),
  name: v.nullable(v.string()),
  value: v.string(),
})
type Case = v.InferOutput<typeof CaseSchema>

const facts = createListingFactsSchema({ allowPrivate: false })
const RULES = {
  categories: new Set(['developer_tools']),
  sources: [],
  allowPlaceholders: false,
  now: '2026-11-20T00:00:00.000Z',
}

/** Of payment terms: what is tested with the importers that read them. */
const OF_TERMS =
  /^(?:network_outside_spec_form|testnet|scheme_|amount_|18_decimals|duplicate_accepts)/

/** For each kind of defect, what must hold. */
const RULE_OF: Readonly<Record<string, (found: Case) => void>> = {
  missing_name: () => {
    expect(parseRegistryRow({ description: 'Text.' })).toMatchObject({ ok: false })
    expect(v.is(NameSchema, '')).toBe(false)
  },
  missing_description: ({ value }) => {
    expect(refusalOf({ description: value })).toBe('no_description')
    expect(v.is(SummarySchema, value)).toBe(false)
  },
  missing_url: ({ value }) => {
    expect(findCallableUrlFault(value, RULES)).not.toBeNull()
    expect(issuesOf({ url: value })).toContain('url')
  },
  description_400_1000: expectPlainSummary,
  description_cjk: expectPlainSummary,
  description_emoji: expectPlainSummary,
  description_html: (found) => {
    expectPlainSummary(found)
    expect(toPlainText(found.value)).not.toMatch(/<\/?[a-z][^<>]*>/i)
  },
  description_markdown: (found) => {
    expectPlainSummary(found)
    expect(toPlainText(found.value)).not.toMatch(/`|\]\(|\*\*/)
  },
  description_mojibake: (found) => {
    expectPlainSummary(found)
    expect(v.is(SummarySchema, found.value)).toBe(false)
    expect(parseFrontMatter(`---\nsummary: ${found.value}\n---\n`).ok).toBe(false)
  },
  description_multiline: (found) => {
    expectPlainSummary(found)
    expect(v.is(SummarySchema, found.value)).toBe(false)
  },
  description_prompt_injection_like: expectPlainSummary,
  description_under_12: expectPlainSummary,
  name_non_ascii: expectName,
  name_over_80: expectName,
  name_untrimmed: expectName,
  npm_identifier_invalid: ({ value }) => {
    const identifier = normalizeIdentifier('npm', value)
    expect(findIdentifierFault('npm', identifier), value).not.toBeNull()
    expect(refusalOf({ packages: [{ registryType: 'npm', identifier: value }] })).toBe(
      'invalid_identifier',
    )
  },
  registry_not_in_spec: ({ value }) => {
    const { registry, identifier } = v.parse(
      v.object({ registry: v.string(), identifier: v.string() }),
      JSON.parse(value),
    )
    // pypi and nuget are superset values; whatever else is refused.
    const refusal = refusalOf({ packages: [{ registryType: registry, identifier }] })
    if (registry !== 'pypi' && registry !== 'nuget') expect(refusal).toBe('unknown_registry')
    else expect(['invalid_identifier', null]).toContain(refusal)
  },
  remote_transport_odd: ({ value }) => {
    const refusal = refusalOf({ packages: [], remotes: [JSON.parse(value)] })
    expect(['unknown_transport', 'invalid_row', 'template_url', 'private_url']).toContain(refusal)
  },
  'url_example domain': expectUrlRefused,
  url_localhost: expectUrlRefused,
  url_path_template: expectUrlRefused,
  'url_plain http': expectUrlRefused,
  'url_raw ip': expectUrlRefused,
  'url_relative/no scheme': expectUrlRefused,
  url_template: expectUrlRefused,
  'url_tunnel host': expectUrlRefused,
}

describe('defects made for this test are refused or harmless', () => {
  const byKind = readCases(OWN)
  testEach(byKind)

  test('every kind has one', () => {
    expect([...byKind.keys()].toSorted()).toEqual(Object.keys(RULE_OF).toSorted())
  })
})

if (!existsSync(FILE)) {
  test.skip(`skipped: no data/quality/cases.ndjson in ../shared (or SHARED_DIR)`, () => {})
  console.log('quality cases skipped: no data/quality/cases.ndjson in ../shared (or SHARED_DIR)')
} else describe('defects of real lists are refused or harmless', () => testEach(readCases(FILE)))

function readCases(file: string): Map<string, Case[]> {
  const cases = readJsonLines(file)
    .map((line) => v.parse(CaseSchema, line))
    .filter((found) => !OF_TERMS.test(found.case))
  return Map.groupBy(cases, (found) => found.case)
}

function testEach(byKind: ReadonlyMap<string, Case[]>): void {
  test.each([...byKind].map(([kind, cases]) => [kind, cases.length, cases] as const))(
    '%s (%i)',
    (kind, _count, cases) => {
      const rule = RULE_OF[kind]
      expect(rule, `expected a rule for ${kind}`).toBeDefined()
      for (const found of cases) rule?.(found)
    },
  )
}

function expectPlainSummary({ value }: Case): void {
  const summary = cutText(toPlainText(value), 200)
  // Nothing but an image or a badge: no words are left, and the server is refused.
  if (summary === '') expect(refusalOf({ description: value })).toBe('no_description')
  else expect(v.safeParse(SummarySchema, summary).issues).toBeUndefined()
  // Kept whole as a description, its HTML stands there as text.
  expect(renderDescription(value)).not.toMatch(/<(?:script|img|iframe|sup|br|div|style|svg)\b/i)
}

function expectName({ value }: Case): void {
  const name = cutText(toPlainText(value), 80)
  expect(v.safeParse(NameSchema, name).issues).toBeUndefined()
  // As it came it is refused in a content file: too long, or with spaces around it.
  if (value.length > 80 || value !== value.trim()) expect(v.is(NameSchema, value)).toBe(false)
}

function expectUrlRefused({ value }: Case): void {
  expect(findCallableUrlFault(value, RULES), value).not.toBeNull()
  expect(refusalOf({ packages: [], remotes: [{ type: 'sse', url: value }] })).not.toBeNull()
}

/** Reason for which a server with this change is refused, or null. */
function refusalOf(change: object): string | null {
  const parsed = parseRegistryRow({
    name: 'io.github.user/weather',
    description: 'Weather for any place.',
    repository: { url: 'https://github.com/user/weather' },
    packages: [{ registryType: 'npm', identifier: 'weather' }],
    ...change,
  })
  if (!parsed.ok) return 'invalid_row'
  const result = mapServer(parsed.row, RULES)
  return result.ok ? null : result.refusal.reason
}

function issuesOf(change: object): (string | null)[] {
  const result = v.safeParse(facts, {
    name: 'Weather',
    kind: 'http_api',
    url: 'https://weather.test',
    summary: 'Weather.',
    sources: [],
    added: '2026-11-20',
    ...change,
  })
  return (result.issues ?? []).map((issue) => v.getDotPath(issue))
}
