import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { formatFault } from '../../src/content/faults.ts'
import { readContent } from '../../src/content/read.ts'
import { type ContentFolder, createContentFolder, listingText } from '../support/content-folder.ts'

/** Every error and warning that `npm run check` would print. */
function check(files: Record<string, string | Uint8Array>): string[] {
  const folder = createContentFolder(files)
  return readFaults(folder)
}

function warningsOf(files: Record<string, string>): string[] {
  const folder = createContentFolder(files)
  const { faults } = readContent(folder.dir, { allowPrivate: false })
  return faults.map((fault) => formatFault(fault, 'content'))
}

function readFaults({ dir }: ContentFolder): string[] {
  const { content, faults } = readContent(dir, { allowPrivate: false })
  const errors = faults.filter(({ severity }) => severity === 'error')
  expect(content === null).toBe(errors.length > 0)
  return errors.map((fault) => formatFault(fault, 'content'))
}

const FILE = 'listings/x402/foo.md'
/** The faults of one file, each without its path. */
const checkOne = (text: string | Uint8Array) =>
  check({ [FILE]: text }).map((fault) => {
    const [none, words] = fault.split(`content/${FILE}:`)
    return none === '' && words !== undefined ? words : expect.fail(`expected its path: ${fault}`)
  })
const checkField = (key: string, value: string | null) => checkOne(listingText({ [key]: value }))

test('a sound listing has no faults', () => {
  expect(checkOne(listingText())).toEqual([])
})

describe('front matter that is not front matter', () => {
  test.each([
    [
      '---js\n({ name: process.exit(1) })\n---\n',
      '1: expected the first line to be exactly ---, got "---js"',
    ],
    [
      '---constructor\n{}\n---\n',
      '1: expected the first line to be exactly ---, got "---constructor"',
    ],
    ['name: x\n', '1: expected the first line to be exactly ---, got "name: x"'],
    ['---\nname: x\n', '1: expected a closing line of --- after the front matter'],
    ['', '1: expected the first line to be exactly ---, got ""'],
    ['---\n---\n', '1: expected front matter between two lines of ---'],
  ])('%j', (text, message) => {
    expect(checkOne(text)).toEqual([message])
  })

  test('a byte order mark, a NUL and bytes that are not UTF-8 are named', () => {
    expect(checkOne(`\ufeff${listingText()}`)).toEqual([
      '1: expected no byte order mark: save the file as UTF-8 without BOM',
    ])
    expect(checkOne(listingText({ name: '"a\0b"' }))).toEqual([
      '2: expected text, got a NUL character',
    ])
    expect(
      checkOne(Buffer.concat([Buffer.from(listingText()), Buffer.from([0xff, 0xfe])])),
    ).toEqual(['13: expected UTF-8 text'])
  })

  test('lines that end with CR are named as what they are', () => {
    for (const end of ['\r\n', '\r'])
      expect(checkOne(listingText().replaceAll('\n', end))).toEqual([
        '1: expected lines that end with LF, got CR: save the file with LF (Unix) line ends',
      ])
  })

  test('a file of 65,537 bytes is one too large', () => {
    expect(checkOne(listingText().padEnd(65_537, 'x'))).toEqual([
      '1: expected at most 65536 bytes, got 65537',
    ])
  })

  test('the same broken file is a fault each time it is read', () => {
    const broken = { [FILE]: '---\nname: [\n---\n' }
    const [first, second] = [check(broken), check(broken)]
    expect(first).toHaveLength(1)
    expect(second).toEqual(first)
  })
})

describe('one slip in YAML is one error', () => {
  const lines = [
    'name: Weather',
    'kind: http_api',
    'url: https://api.weather.example/now',
    'summary: Weather.',
    'categories: [geo_weather]',
    'pricing:',
    '  model: per_call',
    '  min_usd: 0.01',
    '  max_usd: 0.05',
    '  rails: [x402]',
    '  networks:',
    '    - "eip155:8453"',
    'http:',
    '  - method: GET',
    '    url: https://api.weather.example/now',
    '    description: Now',
    'sources:',
    '  - { source: mcp_registry, ref: "https://r.example/1" }',
    'added: 2026-11-20',
  ]
  const errorsWith = (line: number, written: string) =>
    checkOne(`---\n${lines.with(line, written).join('\n')}\n---\n`)
  const indented = lines.flatMap((text, line) => (text.startsWith(' ') ? [line] : []))

  test('as it stands it has none', () => {
    expect(errorsWith(0, 'name: Weather')).toEqual([])
  })

  test.each(indented)('a tab at line %i', (line) => {
    const text = lines[line] ?? ''
    for (const indent of ['\t', ' \t', '  \t'])
      expect(errorsWith(line, text.replace(/^ +/, indent))).toEqual([
        `${line + 2}: expected spaces before the text, got a tab`,
      ])
  })

  test.each([
    ['a second colon', 0, 'name: Weather: now'],
    ['a quote that nobody closes', 0, 'name: "Weather'],
    ['a value that is indented as a key', 1, '  kind: http_api'],
    ['a line between', 7, ' min_usd: 0.01'],
  ])('%s', (_, line, written) => {
    expect(errorsWith(line, written)).toHaveLength(1)
  })
})

test.each(['trust', 'signals', 'badges', 'tiers', 'status', 'id', 'digest', 'package_run'])(
  '%s is not what an editor writes, and that is said',
  (key) => {
    expect(checkField(key, '{ score: 90 }')).toEqual([
      `10 ${key}: expected no ${key}, because it is computed, never written`,
    ])
  },
)

describe('YAML with a second meaning', () => {
  test.each([
    ['name: !!js/function "function () {}"', '2: expected no tags (!…): plain values only'],
    ['a: &a x\nname: *a', '3: expected no aliases (*name): write the value out'],
    ['<<: { name: x }', '2: expected no key <<'],
    ['__proto__: { first_party: true }', '2: expected no key __proto__'],
    ['pricing: { "__proto__": 1 }', '2: expected no key __proto__'],
    ['name: a\nname: b', '3: expected each key once'],
    ['auth: { type: none, type: other }', '2: expected each key once'],
    [
      'http:\n  - method: GET\n    params:\n      - { name: a, name: b }',
      '5: expected each key once',
    ],
    [
      'tags: [a, "]", b\nname: x\nsummary: y',
      '3: expected the bracket or quote that opens here to be closed',
    ],
    [
      "name: x # {\nhttp:\n  - { method: GET, url: 'a}'\nsummary: y",
      '5: expected the bracket or quote that opens here to be closed',
    ],
    [`name: ${'['.repeat(2000)}`, '2: expected at most 40 levels of nesting'],
  ])('%j', (yaml, message) => {
    expect(checkOne(`---\n${yaml}\n---\n`)).toEqual([message])
  })

  test('binary and a bomb of aliases are refused too', () => {
    expect(checkField('name', '!!binary aGk=').join()).toContain('expected no tags')
    const bomb = Array.from(
      { length: 30 },
      (_, i) =>
        `a${i}: &a${i} [${Array(9)
          .fill(i === 0 ? 'x' : `*a${i - 1}`)
          .join(', ')}]`,
    ).join('\n')
    expect(checkOne(`---\n${bomb}\n---\n`).join()).toContain('expected no aliases')
  })
})

describe('fields', () => {
  test.each([
    ['url', 'javascript:alert(1)', 'url: expected an absolute URL that starts with https://'],
    [
      'url',
      '"{base_url}/docs"',
      'url: expected an absolute URL: {base_url} is for first-party listings',
    ],
    ['name', '42', 'name: expected text, got 42'],
    ['name', null, 'name: expected a value, got none'],
    ['summary', '""', 'summary: expected text, got nothing'],
    ['first_party', 'true', 'first_party: expected first_party on kits only'],
    ['kind', 'mcp', 'kind: expected one of kit, http_api, mcp_server, a2a_agent, got "mcp"'],
    ['kind', 'mcp_server', 'kind: expected the file under listings/mcp for a paid mcp_server'],
    [
      'pricing',
      '{ model: per_call, min_usd: free, max_usd: 1, rails: [x402], networks: [] }',
      'pricing.min_usd: expected a number of US dollars, such as 0.01, got "free"',
    ],
    [
      'pricing',
      '{ model: per_call, min_usd: 2, max_usd: 1, rails: [x402], networks: [] }',
      'pricing.max_usd: expected max_usd to be at least min_usd',
    ],
    [
      'pricing',
      '{ model: unknown, rails: [x402] }',
      'pricing.rails: expected no such key together with the other values here',
    ],
    [
      'payout',
      '["0x1111111111111111111111111111111111111111"]',
      'payout[0]: expected a CAIP-10 address',
    ],
    [
      'sources',
      '[{ source: mcp_registri, ref: "https://x.example/" }]',
      'sources[0].source: expected a known source, got "mcp_registri"; did you mean mcp_registry?',
    ],
    [
      'http',
      '[{ method: FETCH, url: "https://x.example/" }]',
      'http[0].method: expected one of GET, POST, PUT, PATCH, DELETE, got "FETCH"',
    ],
    [
      'invoke',
      '[{ kind: mcp, transport: streamable-http, url: "https://x.example/" }]',
      'invoke: expected no invoke entries: only mcp_server listings have them',
    ],
    [
      'discovery',
      '{ openai: "https://x.example/" }',
      'discovery.openai: expected a known key; did you mean openapi?',
    ],
  ])('%s: %s', (key, value, message) => {
    const faults = checkField(key, value)
    expect(faults.join('\n')).toContain(message)
    expect(faults[0]).toMatch(/^\d+ /)
  })

  test('the line is the field’s own, also deep inside', () => {
    const text = listingText().replace(
      'added:',
      'http:\n  - method: GET\n    url: https://a.example/\n  - method: GET\n    url: http://b.example/\nadded:',
    )
    expect(checkOne(text)).toEqual(['13 http[1].url: expected an https URL, got http'])
  })

  test('every fault of every file is reported in one run', () => {
    const faults = check({
      [FILE]: listingText({ name: null, kind: 'x' }),
      'listings/api/bar.md': '---\n---\n',
      'compare/p.yaml': 'title: x\n',
    })
    expect(new Set(faults.map((fault) => fault.split(':')[0]))).toEqual(
      new Set([
        'content/listings/x402/foo.md',
        'content/listings/api/bar.md',
        'content/compare/p.yaml',
      ]),
    )
    expect(faults.length).toBeGreaterThanOrEqual(5)
  })
})

describe('files', () => {
  test('a link is refused: it could bring in any file of the machine', () => {
    const folder = createContentFolder({
      'outside.md': listingText(),
      'listings/x402/ok.md': listingText(),
    })
    symlinkSync(join(folder.dir, 'outside.md'), join(folder.dir, 'listings/x402/link.md'))
    expect(readFaults(folder)).toEqual([
      'content/listings/x402/link.md:1: expected a plain file, not a folder or a link',
    ])
  })

  test.each([
    'Foo.md',
    'a..b.md',
    '-a.md',
    'a b.md',
    'a\u202eb.md',
    'foo.txt',
    `${'a'.repeat(130)}.md`,
  ])('the name %j is refused', (name) => {
    expect(check({ [`listings/x402/${name}`]: listingText() })).toHaveLength(1)
  })

  test('a direction-changing file name is printed visibly', () => {
    expect(check({ 'listings/x402/a\u202eb.md': listingText() })[0]).toContain('\\u{202e}')
  })

  test('an unknown folder is refused', () => {
    expect(check({ 'listings/evil/a.md': listingText() })).toEqual([
      'content/listings/evil:1: expected only the folders x402, api, mcp, a2a, kit',
    ])
  })
})

describe('evidence', () => {
  const evidence = (value: unknown) =>
    check({
      [FILE]: listingText(),
      'evidence/x402/foo.json': typeof value === 'string' ? value : JSON.stringify(value, null, 1),
    })

  test.each([
    ['{', 'expected valid JSON'],
    [
      { trust: 100 },
      'trust: expected one of the known keys (measured, signals, reported_use, interface, sign_in, notices, drift, probes, package_run)',
    ],
    [
      { probes: [{ at: 'yesterday', protocol: 'x402', outcome: 'spoke' }] },
      'probes[0].at: expected an ISO 8601 UTC time',
    ],
    [
      { probes: [{ at: '2026-11-01T00:00:00Z', protocol: 'ftp', outcome: 'spoke' }] },
      'probes[0].protocol: expected one of x402, mpp, mcp, a2a, http',
    ],
    ['{"__proto__": {"measured": 1}}', '__proto__: expected one of the known keys'],
  ])('%j', (value, message) => {
    expect(evidence(value).join('\n')).toContain(message)
  })

  test('of a listing nobody has is an error', () => {
    expect(check({ [FILE]: listingText(), 'evidence/x402/gone.json': '{}' })).toEqual([
      'content/evidence/x402/gone.json: expected evidence for a listing that exists; there is no listings/x402/gone.md',
    ])
  })
})

describe('comparison pages and tables', () => {
  const page = (rows: string) =>
    `title: T\nupdated: 2026-11-20\nsections:\n  - { id: a, title: A, note: N, rows: [${rows}] }\n`

  const linked = (url: string) => `- { name: Elsewhere, url: "${url}", note: Others. }\n`
  test.each([
    [
      'https://registry.modelcontextprotocol.io',
      'is a source of facts, so it cannot also be linked here',
    ],
    ['https://unknown.example', 'expected a link_out row for https://unknown.example'],
  ])('a linked directory is one that nothing is taken from: %s', (url, message) => {
    const tables = { [FILE]: listingText(), 'tables/also_search.yaml': linked(url) }
    expect(warningsOf(tables).join('\n')).toContain(message)
    const fine = { ...tables, 'tables/also_search.yaml': linked('https://smithery.ai') }
    expect(warningsOf(fine).filter((line) => line.includes('also_search'))).toEqual([])
  })

  test('a row must be a listing that exists', () => {
    expect(
      check({ [FILE]: listingText(), 'compare/p.yaml': page('{ id: x402.nope, focus: broad }') }),
    ).toEqual(['content/compare/p.yaml rows: expected ids of listings that exist, got x402.nope'])
  })

  test.each(['task-words', 'task-questions'])('%s are of a task that exists', (table) => {
    const words = 'find_magic: ["find magic"]\n'
    expect(check({ [FILE]: listingText(), [`tables/${table}.yaml`]: words })).toEqual([
      `content/tables/${table}.yaml: expected an id from tables/tasks.yaml, got find_magic`,
    ])
  })

  test.each(['GET /api/v1/magic', 'GET /magic', 'POST /badges'])(
    'a roadmap endpoint that nothing answers is an error, %s too: the roadmap cannot lie',
    (endpoint) => {
      const roadmap = `- { id: magic, name: Magic, endpoint: ${endpoint}, note: Soon. }\n`
      expect(check({ [FILE]: listingText(), 'tables/roadmap.yaml': roadmap })[0]).toContain(
        `magic: expected an endpoint from the route table, got ${endpoint}`,
      )
    },
  )
})

describe('numbers and names that are read as others', () => {
  test.each(['0x10', '012', '0o17', '-012'])('a price of %s is refused', (price) => {
    const pricing = `{ model: per_call, min_usd: 0.01, max_usd: ${price}, rails: [x402], networks: [] }`
    expect(checkField('pricing', pricing)).toEqual([
      `7: expected a plain decimal number such as 12 or 0.5, got ${price}: write text in quotes`,
    ])
  })

  test.each(['0', '0.5', '12', '1e-3'])('a price of %s is a price', (price) => {
    const pricing = `{ model: per_call, min_usd: ${price}, max_usd: 20, rails: [x402], networks: [] }`
    expect(checkField('pricing', pricing)).toEqual([])
  })

  test.each(['Ｗｅａｔｈｅｒ', 'Weather ２'])('the name %s is refused', (name) => {
    expect(checkField('name', name)).toEqual([
      '2 name: expected ordinary Latin letters and digits, got full-width ones',
    ])
  })
})

test('a folder beside listings that nobody reads is named, with the one that was meant', () => {
  const folder = createContentFolder({
    [FILE]: listingText(),
    'evidense/x402/foo.json': '{}',
    '.git/x': '',
  })
  const { faults } = readContent(folder.dir, { allowPrivate: false })
  const lines = faults.map((fault) => formatFault(fault, 'content'))
  expect(lines.filter((line) => line.includes('unknown folder'))).toEqual([
    expect.stringMatching(/^content\/evidense.*warning.*did you mean evidence\?$/),
  ])
})

describe('a listing that moved', () => {
  const FORMER = listingText({ url: 'https://api.weather.example/old' })
  const tombstone = (id: string, changes: object) =>
    JSON.stringify({
      id,
      at: '2026-11-20T00:00:00Z',
      reason: 'moved',
      by: 'an editor',
      listing: FORMER,
      ...changes,
    })
  const checkMove = (changes: object, text = listingText()) =>
    check({ [FILE]: text, 'tombstones/x402/old.json': tombstone('x402.old', changes) })
  const elsewhere = listingText({ url: 'https://api.storm.example/now' })

  test.each<[string, object, string | undefined, string | null]>([
    ['to a listing of its domain', { moved_to: 'x402.foo' }, undefined, null],
    [
      'to nobody',
      { moved_to: 'x402.nobody' },
      undefined,
      'expected a listing that exists, got x402.nobody',
    ],
    [
      'to itself',
      { moved_to: 'x402.old' },
      undefined,
      'expected moves that end at a listing, got a loop from x402.old through x402.old',
    ],
    ['without saying where', {}, undefined, 'expected the current id'],
    [
      'for another reason',
      { moved_to: 'x402.foo', reason: 'dead' },
      undefined,
      'expected "moved" because of moved_to',
    ],
    [
      'without its former file',
      { moved_to: 'x402.foo', listing: undefined },
      undefined,
      'expected the former file',
    ],
    [
      'to another domain',
      { moved_to: 'x402.foo' },
      elsewhere,
      'expected a page on weather.example that announces the move, got none',
    ],
    [
      'by the word of the new domain',
      { moved_to: 'x402.foo', said_at: 'https://storm.example/we' },
      elsewhere,
      'got https://storm.example/we',
    ],
    [
      'by the word of the former domain',
      { moved_to: 'x402.foo', said_at: 'https://weather.example/we' },
      elsewhere,
      null,
    ],
  ])('%s', (_, changes, text, message) => {
    const errors = checkMove(changes, text)
    if (message === null) expect(errors).toEqual([])
    else {
      expect(errors).toHaveLength(1)
      expect(errors[0]).toMatch(/^content\/tombstones\/x402\/old\.json/)
      expect(errors[0]).toContain(message)
    }
  })

  test('in a circle of several is told at each of them; of two accounts of a platform by the account', () => {
    expect(
      check({
        'tombstones/x402/old.json': tombstone('x402.old', { moved_to: 'x402.older' }),
        'tombstones/x402/older.json': tombstone('x402.older', { moved_to: 'x402.old' }),
      }),
    ).toHaveLength(2)
    const [fault] = checkMove(
      { moved_to: 'x402.foo', listing: listingText({ url: 'https://github.com/ann/a' }) },
      listingText({ url: 'https://github.com/bob/a' }),
    )
    expect(fault).toContain('was on github.com/ann and x402.foo is on github.com/bob')
  })
})
