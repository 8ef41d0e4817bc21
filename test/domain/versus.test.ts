import { describe, expect, test } from 'vitest'
import { toVersus } from '../../src/components/compare/versus.ts'
import { toOperationEntries } from '../../src/domain/kit/found-operations.ts'
import { UNPUBLISHED } from '../../src/domain/listing/pricing.ts'
import { toTaskOffers, toTaskPages } from '../../src/domain/plans/task-offers.ts'
import { toListingView } from '../../src/domain/views/listing-view.ts'
import {
  BASE_URL,
  SAMPLE_FACTS,
  toKit,
  toListing,
  toMeasured,
  VIEW_CONTEXT,
} from './listing-samples.ts'

type Sample = NonNullable<Parameters<typeof toListing>[0]>
const toSubject = (sample: Sample = {}) => ({
  view: toListingView(toListing(sample), VIEW_CONTEXT),
})
const priced = (usd: number) => ({
  pricing: { ...SAMPLE_FACTS.pricing, min_usd: usd, max_usd: usd },
  http: [
    {
      method: 'GET',
      url: 'https://api.weather.example/now',
      price: { min_usd: usd, max_usd: usd, per: 'call' },
      task: 'weather',
    },
  ],
})
const TASKS = [{ id: 'weather', name: 'Weather for a place', words: ['weather'] }]
const toPages = (samples: Sample[]) => {
  const context = { tasks: TASKS, baseUrl: BASE_URL }
  const offers = samples
    .map(toListing)
    .flatMap((listing) => toTaskOffers(listing, toOperationEntries(listing, BASE_URL), context))
  return toTaskPages(TASKS, offers)
}
const rowsOf = (samples: Sample[]) => {
  const named = samples.map((sample, place) => ({ id: `x402.${place}`, ...sample }))
  const { groups } = toVersus(named.map(toSubject), toPages(named))
  return new Map(groups.flatMap(({ rows }) => rows.map((row) => [row.label, row] as const)))
}
const textsOf = (samples: Sample[], label: string) =>
  rowsOf(samples)
    .get(label)
    ?.cells.map(({ text }) => text)

test('first stands whether each answers, and what comes back', () => {
  const url = 'https://api.weather.example/now'
  const response = { content_type: 'application/json', example: { sky: 'clear' } }
  const facts = { http: [{ method: 'GET', url, response }] }
  const at = '2026-10-31T00:00:00Z'
  const probes = [{ at, protocol: 'x402', outcome: 'spoke' } as const]
  const listing = toListing({ facts, evidence: { probes } })
  const [first] = toVersus(
    [{ ...toSubject({ facts, evidence: { probes } }), kit: toKit(listing) }, toSubject()],
    [],
  ).groups
  expect(first?.rows.map(({ label, cells }) => [label, ...cells.map(({ text }) => text)])).toEqual([
    ['State', 'answered our probe on 31 October 2026', 'not probed'],
    ['You get', 'sky', 'not described'],
  ])
})

test('what comes back is that of the task which is compared', () => {
  const http = [
    ...['chat', 'weather'].map((task) => ({
      method: 'GET',
      url: `https://api.weather.example/${task}`,
      response: { content_type: 'application/json', example: { [task]: 1 } },
      task,
    })),
    { method: 'GET', url: 'https://api.weather.example/talk', task: 'chat' },
  ]
  const samples = ['x402.a', 'x402.b'].map((id) => ({
    ...{ id, facts: { http, pricing: { model: 'unknown' }, cost: 'free' } },
  }))
  const subjects = samples.map((sample) => {
    const listing = toListing(sample)
    return { view: toListingView(listing, VIEW_CONTEXT), kit: toKit(listing) }
  })
  const getsOf = (tasks: Parameters<typeof toVersus>[1]) =>
    toVersus(subjects, tasks)
      .groups.flatMap(({ rows }) => rows)
      .find(({ label }) => label === 'You get')
      ?.cells.map(({ text }) => text)
  expect(getsOf([])).toEqual(['chat', 'chat'])
  expect(getsOf(toPages(samples))).toEqual(['weather', 'weather'])
})

describe('listings side by side', () => {
  test('stand in the order given, under their names', () => {
    const samples = [
      { id: 'x402.b', facts: { name: 'B' } },
      { id: 'x402.a', facts: { name: 'A' } },
    ]
    const { columns } = toVersus(samples.map(toSubject), toPages(samples))
    expect(columns.map(({ name }) => name)).toEqual(['B', 'A'])
  })

  test('a row that differs is marked, and the lowest price of several', () => {
    const rows = rowsOf([{ facts: priced(0.02) }, { facts: priced(0.01) }])
    expect(rows.get('Weather for a place')).toMatchObject({
      differs: true,
      cells: [
        { text: '$0.02', isLowest: false },
        { text: '$0.01', isLowest: true },
      ],
    })
    // Beside the same task, the lowest price of any call would mislead.
    expect(rows.get('One call from')?.cells.map(({ isLowest }) => isLowest)).toEqual([false, false])
    expect(rows.get('Pays with')).toMatchObject({ differs: false })
  })

  test('equal prices: none is the lowest', () => {
    const cells = rowsOf([{ facts: priced(0.01) }, { facts: priced(0.01) }]).get(
      'Weather for a place',
    )?.cells
    expect(cells?.map(({ isLowest }) => isLowest)).toEqual([false, false])
  })

  test('a task is a row where two offer it, and who does not is said to', () => {
    const both = [{ facts: priced(0.02) }, { facts: priced(0.01) }, {}]
    expect(textsOf(both, 'Weather for a place')).toEqual(['$0.02', '$0.01', 'not offered'])
    expect(textsOf([{ facts: priced(0.02) }, {}], 'Weather for a place')).toBeUndefined()
  })

  test('who does a task for free, or at a price that nobody published, is not said to lack it', () => {
    const [operation] = priced(0.02).http
    const http = [{ ...operation, price: undefined }]
    const free = { facts: { pricing: { model: 'unknown' }, cost: 'free', http } }
    const rows = [{ facts: priced(0.02) }, free, { facts: { pricing: { model: 'unknown' }, http } }]
    expect(textsOf(rows, 'Weather for a place')).toEqual(['$0.02', 'free', UNPUBLISHED])
  })

  test('a server does the tasks of its tools and its own, at the price that their pages name', () => {
    const local = { kind: 'mcp_package', transport: 'stdio', registry: 'npm', identifier: 'w' }
    const server = { kind: 'mcp_server', http: [], pricing: { model: 'unknown' }, invoke: [local] }
    const tools = [{ name: 'now', task: 'weather' }]
    const [open, account] = [{ type: 'none' }, { type: 'other' }]
    const rows = [
      { facts: { ...server, auth: open, tools } },
      { facts: { ...server, auth: account, tasks: ['weather'] } },
      { facts: { ...server, auth: open, tools: [{ name: 'other' }] } },
      { facts: { tasks: ['weather'] } },
    ].map((row): Sample => row)
    expect(textsOf(rows, 'Weather for a place')).toEqual([
      'free',
      'your own account',
      'not stated',
      `$${SAMPLE_FACTS.pricing.min_usd}`,
    ])
  })

  test('a price of another unit names it, and is compared with none', () => {
    const [operation] = priced(0.001).http
    const http = [{ ...operation, price: { min_usd: 0.001, max_usd: 0.001, per: 'other' } }]
    const rows = [{ facts: priced(0.02) }, { facts: priced(0.01) }, { facts: { http } }]
    expect(rowsOf(rows).get('Weather for a place')?.cells).toMatchObject([
      { text: '$0.02', isLowest: false },
      { text: '$0.01', isLowest: false },
      { text: '$0.001 / unit', isLowest: false },
    ])
  })

  test('a price that a probe saw above the listed one counts, with the listed one beside it', () => {
    const at = '2026-10-31T00:00:00Z'
    const seen = { at, outcome: 'spoke' as const, min_usd: 0.03, max_usd: 0.03 }
    const operation = { method: 'GET' as const, url: 'https://api.weather.example/now', seen }
    const sight = { at, from: 'openapi' as const, operations: [operation] }
    const raised = { facts: priced(0.02), evidence: { interface: sight } }
    expect(textsOf([raised, { facts: priced(0.01) }], 'Weather for a place')).toEqual([
      '$0.03, listed at $0.02',
      '$0.01',
    ])
  })

  test('a row that nobody has anything for is left out; one that somebody has names what lacks', () => {
    const measured = { evidence: { measured: toMeasured() } }
    expect(textsOf([{}, {}], 'Trust')).toBeUndefined()
    expect(textsOf([measured, {}], 'Buyers, 30 days')).toEqual(['12', 'no data'])
    expect(textsOf([measured, {}], 'Trust')?.[1]).toBe('unmeasured')
  })
})

test('a directory without payments compares no cost', () => {
  const titles = (payments: boolean) =>
    toVersus([toSubject({})], [], { payments }).groups.map(({ title }) => title)
  expect(titles(true)).toContain('Cost')
  expect(titles(false)).not.toContain('Cost')
})
