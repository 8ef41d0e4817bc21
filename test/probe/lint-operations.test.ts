import { describe, expect, test } from 'vitest'
import { parseConfig } from '../../functions/ports/config.ts'
import { createCheck, findPlanAt, lintPlan } from '../../functions/probes/lint.ts'
import type { ProbePlan } from '../../src/domain/probe/plan.ts'
import {
  aCaller,
  createTestRuns,
  NOTHING_DECLARED,
  OFFER,
  openClient,
  openSite,
  paidRequest,
  pay,
  type Site,
  toTerms,
} from './probe-world.ts'

/** `/fine` and `/dear` ask to be paid, `/gone` is not there. */
async function startSeller(): Promise<Site> {
  const expensive = { 'payment-required': toTerms([{ ...OFFER, amount: '90000' }]) }
  return openSite((req, res) => {
    if (req.url === '/gone') res.writeHead(404).end()
    else if (req.url === '/dear') res.writeHead(402, expensive).end('{}')
    else pay(req, res)
  })
}

/** Each address is asked as it stands; declared is what comes before its query. */
function planFor(id: string, [first = '', ...rest]: string[]): ProbePlan {
  const toOperation = (url: string) => ({ method: 'GET' as const, url: url.split('?')[0] ?? '' })
  const ask = (url: string) => ({ ...paidRequest(url), operation: toOperation(url) })
  const operations = [first, ...rest].map((url, index) => ({
    ...toOperation(url),
    max_usd: index === 0 ? 0.01 : 0.02,
  }))
  return {
    id,
    handshake: { kind: 'payment', rails: ['x402'], requests: [ask(first), ...rest.map(ask)] },
    declared: { ...NOTHING_DECLARED, operations },
  }
}

const createTestCheck = (changes: Pick<CheckParts, 'plans' | 'declared'>) =>
  createCheck({
    config: parseConfig({ UNSAFE_ALLOW_PRIVATE_TARGETS: 'true' }),
    clock: { now: Date.now },
    limits: { take: async () => ({ allowed: true, headers: {} }) },
    runs: createTestRuns(),
    whyNotListed: () => null,
    ...changes,
  })
type CheckParts = Parameters<typeof createCheck>[0]

const urlsOf = ({ url }: Site) => ['/fine', '/dear', '/gone'].map((path) => url + path)

describe('the linter of a listing', () => {
  test('says of each operation what was sent, what came back, what is right, what to change', async () => {
    const site = await startSeller()
    const plan = planFor('x402.shop', urlsOf(site))
    const report = await lintPlan('shop.md', plan, openClient(), Date.now)
    expect(report.asked.map(({ url }) => url)).toEqual(urlsOf(site))
    expect(report.asked.map(({ came_back }) => came_back.slice(0, 10))).toEqual([
      'status 402',
      'status 402',
      'status 404',
    ])
    expect(report.right.map((line) => line.split(':')[0])).toEqual(['GET /fine', 'GET /dear'])
    expect(report.problems).toEqual([
      {
        what: 'The price of GET /dear is $0.09; the listing says at most $0.02.',
        change: 'Make the service and the listing agree.',
      },
      {
        what: 'GET /gone: status 404',
        change: 'Check that the published address is the one that answers.',
      },
    ])
    expect(report).toMatchObject({ took_for: 'x402', verdict: 'problems' })
  })
})

describe('a declaration is judged as paid calls are', () => {
  const weather = {
    content_type: 'application/json',
    schema: {
      type: 'object',
      properties: { celsius: { type: 'number' }, city: { type: 'string' } },
      required: ['celsius'],
    },
  }
  const bodies: Record<string, unknown> = {
    '/right': { celsius: 21, city: 'Lima' },
    '/other': { fahrenheit: 70 },
    '/failed': { error: 'no such city: SECRET' },
  }
  const startFree = () =>
    openSite((req, res) =>
      res
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(bodies[req.url ?? ''])),
    )
  function planOf(url: string, { content_type, schema }: typeof weather): ProbePlan {
    const shaped = { is_paid: false, expected: content_type, shape: { schema } }
    const requests = [{ ...paidRequest(url), ...shaped }] as const
    return {
      id: 'x402.shop',
      handshake: { kind: 'http', rails: [], requests: [...requests] },
      declared: NOTHING_DECLARED,
    }
  }
  async function lintFree(path: string) {
    const url = (await startFree()).url + path
    return lintPlan('shop.md', planOf(url, weather), openClient(), Date.now)
  }

  test('an answer that is as declared is right', async () => {
    expect(await lintFree('/right')).toMatchObject({ problems: [], verdict: 'clean' })
  })

  test.each([
    ['/other', 'GET /other: the answer would be judged other_shape: Expected a member celsius.'],
    [
      '/failed',
      'GET /failed: the answer would be judged error_in_200: A member says that there was an error.',
    ],
  ])('a free answer at %s that is not what is declared is named', async (path, what) => {
    const { problems, verdict } = await lintFree(path)
    expect(verdict).toBe('problems')
    expect(problems).toEqual([{ what, change: expect.stringContaining('Declare under response') }])
  })

  test('where only payment brings an answer, the declared example is judged', async () => {
    const site = await startSeller()
    const client = openClient()
    const [url = ''] = urlsOf(site)
    const lintPaid = (example: unknown) =>
      lintPlan('shop.md', planFor('x402.shop', [url]), client, Date.now, {
        declared: [{ method: 'GET', url, response: { ...weather, example } }],
      })
    expect((await lintPaid({ celsius: 3 })).problems).toEqual([])
    expect((await lintPaid({ fahrenheit: 3 })).problems.map(({ what }) => what)).toEqual([
      'GET /fine: the declared example would be judged other_shape: Expected a member celsius.',
    ])
  })

  test('of a listing that is served, by what its release declares', async () => {
    const site = await startFree()
    const url = `${site.url}/other`
    const row = { method: 'GET' as const, url, response: weather }
    const wrong = { ...row, response: { ...weather, example: { fahrenheit: 3 } } }
    const check = createTestCheck({
      plans: async () => [planOf(url, weather)],
      declared: async () =>
        new Map([
          ['a', { ...row, listing_id: 'x402.shop', digest: 'a' }],
          ['b', { ...wrong, listing_id: 'x402.another', digest: 'b' }],
        ]),
    })
    const answer = await check({ url, as: undefined, caller: aCaller('a') })
    expect(answer).toMatchObject({
      report: { problems: [{ what: expect.stringContaining('judged other_shape') }] },
    })
    if (answer.kind === 'report') expect(answer.report.problems).toHaveLength(1)
  })
})

describe('an address to check', () => {
  const known = [
    planFor('x402.a', ['https://a.example/one', 'https://a.example/two?q=1']),
    planFor('x402.b', ['https://shared.example/b']),
    planFor('x402.c', ['https://shared.example/c']),
    {
      ...planFor('mcp.d', ['']),
      handshake: { kind: 'mcp', url: 'https://d.example/mcp' } as const,
    },
  ]
  test.each([
    ['https://a.example/two?q=1', 'x402.a'],
    ['https://a.example/two', 'x402.a'],
    ['https://A.example:443/one#top', 'x402.a'],
    ['https://a.example', 'x402.a'],
    ['https://a.example/three', undefined],
    ['https://shared.example/c', 'x402.c'],
    ['https://shared.example/', undefined],
    ['https://d.example/mcp', undefined],
  ])('%s is asked as %s', (url, id) => {
    expect(findPlanAt(known, url)?.id).toBe(id)
  })

  test('of a listing is asked as it is listed, unless a protocol is named', async () => {
    const site = await startSeller()
    const plans = async () => [planFor('x402.shop', urlsOf(site))]
    const check = createTestCheck({ plans, declared: async () => new Map() })
    const ask = async (as?: 'x402') => {
      const answer = await check({ url: `${site.url}/dear`, as, caller: aCaller('a') })
      return answer.kind === 'report' ? answer.report : null
    }
    expect(await ask()).toMatchObject({
      asked: [{}, {}, {}],
      right: [expect.stringContaining('x402.shop'), expect.anything(), expect.anything()],
      verdict: 'problems',
    })
    expect(await ask('x402')).toMatchObject({ asked: [{}], verdict: 'clean' })
  })
})
