import { describe, expect, test } from 'vitest'
import { findFuture } from '../../src/content/check.ts'
import { formatFault } from '../../src/content/faults.ts'
import { readContent } from '../../src/content/read.ts'
import { createContentFolder, listingText, OWN_TASKS } from '../support/content-folder.ts'
import { checkHere } from '../support/run-here.ts'

function check(files: Record<string, string | Uint8Array>): string[] {
  const folder = createContentFolder(files)
  const { faults } = readContent(folder.dir, { allowPrivate: false })
  const own = faults.filter(({ field, file }) => field !== '' || !file.endsWith('site.yaml'))
  return own.map((fault) => formatFault(fault, 'content'))
}

const SERVER = {
  kind: 'mcp_server',
  pricing: null,
  url: 'https://x.seller.dev/a',
}
const server = (changes: Record<string, string | null>) => listingText({ ...SERVER, ...changes })

describe('duplicates are warned about, on the later listing', () => {
  test.each([
    [
      'a url in two spellings',
      listingText({ url: 'https://www.api.seller.dev/now/' }),
      listingText({ url: 'https://api.seller.dev/now' }),
      'content/listings/x402/b.md:4 url: warning, the same url api.seller.dev/now as x402.a: expected one listing per service',
    ],
    [
      'an operation',
      listingText({ http: '[{ method: GET, url: "https://api.seller.dev/x" }]' }),
      listingText({
        url: 'https://b.seller.dev/',
        http: '[{ method: GET, url: "https://api.seller.dev/x" }]',
      }),
      'http: warning, the same operation api.seller.dev/x as x402.a',
    ],
  ])('%s', (_, a, b, message) => {
    const faults = check({ 'listings/x402/a.md': a, 'listings/x402/b.md': b })
    expect(faults.filter((fault) => fault.includes('the same'))).toEqual([
      expect.stringContaining(message),
    ])
  })

  test('a package, whatever its tag and case', () => {
    const image = (tag: string) =>
      `[{ kind: mcp_package, transport: stdio, registry: oci, identifier: "mcp/weather${tag}" }]`
    expect(
      check({
        'listings/mcp/a.md': server({ invoke: image(':1.0') }),
        'listings/mcp/b.md': server({ url: 'https://x.seller.dev/b', invoke: image('') }),
      }),
    ).toEqual([expect.stringContaining('the same package oci mcp/weather as mcp.a')])
  })

  test('one endpoint named twice in one listing is not a duplicate of another', () => {
    const remote = '{ kind: mcp, transport: streamable-http, url: "https://x.seller.dev/a" }'
    expect(check({ 'listings/mcp/a.md': server({ invoke: `[${remote}]` }) })).toEqual([])
  })
})

describe('independent faults of one run', () => {
  test('a fault in one field hides no fault in another', () => {
    const faults = check({
      ...OWN_TASKS,
      'listings/x402/a.md': listingText({
        name: '""',
        kind: 'mcp_server',
        categories: '[wether]',
        http: '[{ method: GET, url: "https://api.seller.dev/{id}", task: serch }]',
        price: '1',
        sumary: 'A thing.',
        prefix: 'x402',
      }),
    }).join('\n')
    for (const part of [
      'name: expected text, got nothing',
      'kind: expected the file under listings/mcp',
      'categories[0]: expected a known category, got "wether"; did you mean geo_weather?',
      'http[0].url: expected {id} to be declared in params',
      'http[0].task: expected a known task, got "serch"; did you mean web_search?',
      'http: expected no http endpoints: only http_api listings have them',
      'price: expected a known key; did you mean pricing?',
      'sumary: expected a known key; did you mean summary?',
      'prefix: expected ',
    ])
      expect(faults).toContain(part)
  })

  test('every unknown key is told at its own line, deep ones too', () => {
    const text = listingText({
      url: 'https://api.seller.dev/',
      http: '\n  - method: GET\n    url: "https://api.seller.dev/a"\n    pricee: 1\n    taks: x',
    })
    const faults = check({ 'listings/x402/a.md': text })
    const lineOf = (key: string) => text.split('\n').findIndex((line) => line.includes(key)) + 1
    expect(faults).toEqual([
      `content/listings/x402/a.md:${lineOf('pricee')} http[0].pricee: expected a known key; did you mean price?`,
      `content/listings/x402/a.md:${lineOf('taks')} http[0].taks: expected a known key; did you mean task?`,
    ])
  })

  test('a broken table hides no fault of a listing, and blames none for its own', () => {
    const faults = check({
      'listings/x402/a.md': listingText({ sources: '[{ source: nobody, ref: "https://x.dev/" }]' }),
      'tables/categories.yaml': '- id: [\n',
    })
    expect(faults.some((fault) => fault.startsWith('content/tables/categories.yaml'))).toBe(true)
    expect(faults.join('\n')).toContain('sources[0].source: expected a known source, got "nobody"')
    expect(faults.join('\n')).not.toContain('expected a known category')
  })
})

test.each([
  ['2026-11-22', []],
  ['2024-01-01', []],
  ['2026-11-23', ['expected 2026-11-22 or earlier, got a future day']],
])('a listing added %s', (added, messages) => {
  const folder = createContentFolder({
    'listings/x402/a.md': listingText({ added, url: 'https://api.seller.dev/' }),
  })
  const { seen } = readContent(folder.dir, { allowPrivate: false })
  expect(findFuture(seen, '2026-11-22').map(({ message }) => message)).toEqual(messages)
})

test('a wrong command says how it is used', async () => {
  expect((await checkHere({}, '--what')).status).toBe(2)
})

describe('a server whose credentials an agent would lack, or copy from somebody, is warned about', () => {
  const remote = 'kind: mcp, transport: streamable-http, url: "https://mcp.seller.dev/mcp"'
  const image = 'kind: mcp_package, transport: stdio, registry: npm, identifier: weather'
  const withEnv = (env: string) => `[{ ${image}, env: [{ ${env} }] }]`
  const reportedOf = (auth: string, invoke: string) =>
    check({ 'listings/mcp/a.md': server({ auth, invoke }) }).filter((each) =>
      each.includes('invoke'),
    )

  test.each([
    ['a package that names nothing', '{ type: api_key }', `[{ ${image} }]`],
    ['a remote that names no header', '{ type: api_key }', `[{ ${remote} }]`],
    ['one way in of two', '{ type: other }', `[{ ${image}, args: ["<KEY>"] }, { ${remote} }]`],
  ])('%s', (_, auth, invoke) => {
    expect(reportedOf(auth, invoke)).toEqual([
      expect.stringMatching(/invoke\[\d\]: warning, auth is \w+: expected the caller's credential/),
    ])
  })

  test.each([
    ['a bearer token has one place', '{ type: bearer }', `[{ ${remote} }]`],
    ['a client signs in by itself', '{ type: oauth }', `[{ ${remote} }]`],
    ['auth names it', '{ type: api_key, in: query, name: apikey }', `[{ ${remote} }]`],
    ['a sentence says it', '{ type: other, note: The kubeconfig file. }', `[{ ${image} }]`],
    ['nothing is needed', '{ type: none }', `[{ ${image} }]`],
  ])('nothing is lacking where %s', (_, auth, invoke) => {
    expect(reportedOf(auth, invoke)).toEqual([])
  })

  test.each([
    'name: A_KEY, secret: true, example: "sk-live-1"',
    'name: A_KEY, required: true, example: "1234abcd1234abdd"',
    'name: A_HOST, required: true, example: "https://example.seller.dev"',
    'name: A_FILE, required: true, example: "/path/to/key.json"',
    'name: A_USER, required: true, example: "YOUR_USER_HERE"',
    'name: A_HOST, required: true, example: "192.168.1.100"',
  ])('a sample: %s', (env) => {
    expect(reportedOf('{ type: api_key }', withEnv(env))).toEqual([
      expect.stringMatching(
        /invoke\[0\]\.env\[0\]\.example: warning, .*expected no example or a placeholder/,
      ),
    ])
  })

  test.each([
    'name: A_KEY, secret: true, example: "Bearer <token>"',
    'name: A_URL, required: true, secret: true, example: "postgres://…"',
    'name: A_HOST, required: true, example: "http://localhost:9200"',
    'name: A_MODE, required: true, example: stdio',
    'name: A_HOST, example: "https://example.seller.dev"',
  ])('no sample: %s', (env) => {
    expect(reportedOf('{ type: api_key }', withEnv(env))).toEqual([])
  })
})
