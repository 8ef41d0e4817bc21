import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runLint } from '../../functions/commands/evidence/lint-listing.ts'
import { createHttpClient } from '../../functions/net/http-client.ts'
import { probeAsChore } from '../../functions/probes/schedule.ts'
import { createProbeSigner, createRequestSigner } from '../../functions/probes/sign.ts'
import { rotateKeys } from '../../functions/receipts/receipts.ts'
import type { ProbePlan } from '../../src/domain/probe/plan.ts'
import { liveListing } from '../support/live-listing.ts'
import { runHere } from '../support/run-here.ts'
import { serveFixture } from '../support/running-service.ts'
import { startSite } from '../support/site.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { openWorld, type World } from '../support/world.ts'
import { startAgent } from './a2a-sites.ts'
import { startCurrent, startFormer, startSse } from './mcp-sites.ts'
import { NOTHING_DECLARED, paidRequest, pay, planPaid, type Site } from './probe-world.ts'
import { type Arrived, thumbprintOf, verify } from './rfc-9421.ts'

const TAG = 'web-bot-auth'
const DIRECTORY = '/.well-known/http-message-signatures-directory'
const BASE_URL = 'https://waypost.example'
const OPEN = {
  UNSAFE_ALLOW_PRIVATE_TARGETS: 'true',
  RATE_LIMITS: '{"search":"off","call":"off","check":"off"}',
}
const seconds = () => Math.floor(Date.now() / 1000)

const service = serveFixture(OPEN)
const sites: Site[] = []
/** Every request that reached a site, as it came. */
let arrived: Arrived[] = []
const record = (message: unknown) => {
  const { request } = message as { request: IncomingMessage } // of `http.server.request.start`
  if (request.headers.host === new URL(service.url).host) return
  const { method = '', url: target = '', rawHeaders } = request
  arrived.push({ method, target, scheme: 'http', rawHeaders })
}
const start = async <S extends Site>(site: Promise<S>): Promise<S> => {
  sites.push(await site)
  return site
}
beforeAll(async () => {
  subscribe('http.server.request.start', record)
})
afterAll(async () => {
  unsubscribe('http.server.request.start', record)
  for (const site of sites) await site.close()
})

const startSeller = () =>
  start(
    startSite((req, res) => {
      req.resume()
      pay(req, res)
    }),
  )

function planSix(id: string, url: string): ProbePlan {
  const paths = ['/a', '/b?city=Oslo&day=1', '/c', '/d/%C3%A5?x=%20', '/e']
  const plan = planPaid(id, ...paths.map((path) => url + path))
  const last = paidRequest(`${url}/f`, 'POST')
  if (plan.handshake.kind === 'payment')
    plan.handshake.requests.push({ ...last, request: { ...last.request, body: '{"city":"Oslo"}' } })
  return plan
}

async function readKeys(url = service.url) {
  const answer = await fetch(url + DIRECTORY)
  const body = await answer.text()
  return { answer, body, keys: JSON.parse(body).keys }
}

describe('a hundred requests of real probes', () => {
  let seen: Arrived[] = []
  beforeAll(async () => {
    const tools = [await start(startCurrent('stateless')), await start(startFormer(true))]
    const [stream, agent] = [await start(startSse()), await start(startAgent(['1.0']))]
    const plans: ProbePlan[] = [
      ...tools.map(
        ({ url }, at): ProbePlan => ({
          id: `mcp.t${at}`,
          handshake: { kind: 'mcp', url: `${url}/mcp` },
          declared: NOTHING_DECLARED,
        }),
      ),
      {
        id: 'mcp.sse',
        handshake: { kind: 'mcp_sse', url: `${stream.url}/mcp` },
        declared: NOTHING_DECLARED,
      },
      {
        id: 'a2a.trips',
        handshake: { kind: 'a2a', urls: [`${agent.url}/.well-known/agent-card.json`] },
        declared: NOTHING_DECLARED,
      },
    ]
    for (let at = 0; at < 16; at += 1) {
      const { url } = await startSeller()
      plans.push(planSix(`x402.s${at}`, url))
    }
    await probeAsChore(
      { ...service.service.parts, plans: async () => plans },
      new AbortController().signal,
    )
    const { url } = await startSeller()
    await fetch(`${service.url}/api/v1/lint?url=${url}/lint`)
    seen = arrived
  })

  test('are all accepted by a verifier that knows the RFC alone', async () => {
    const { keys } = await readKeys()
    expect(seen.length).toBeGreaterThanOrEqual(100)
    const methods = new Set(seen.map(({ method }) => method))
    expect([...methods].sort()).toEqual(['DELETE', 'GET', 'POST'])
    const found = seen.map((request) => verify(request, TAG, keys, seconds()))
    expect(new Set(found.map(({ agent }) => agent))).toEqual(new Set([`"${BASE_URL}"`]))
    // None can be taken for another that was sent before.
    expect(new Set(found.map(({ nonce }) => nonce)).size).toBe(seen.length)
  })

  const replace = (request: Arrived, name: string, change: (value: string) => string): Arrived => ({
    ...request,
    rawHeaders: request.rawHeaders.map((text, at) =>
      request.rawHeaders[at - 1]?.toLowerCase() === name && at % 2 === 1 ? change(text) : text,
    ),
  })
  const later = (value: string) =>
    value.replace(/expires=(\d+)/, (_, at) => `expires=${+at + 9999}`)
  const ALTERED: [what: string, change: (request: Arrived) => Arrived, why: string][] = [
    ['method', (one) => ({ ...one, method: 'PATCH' }), 'does not fit'],
    ['path', (one) => ({ ...one, target: '/pay/everything' }), 'does not fit'],
    ['authority', (one) => replace(one, 'host', () => 'other.example'), 'does not fit'],
    [
      'sender',
      (one) => replace(one, 'signature-agent', () => 'sig1="https://x.example"'),
      'does not fit',
    ],
    ['time', (one) => replace(one, 'signature-input', later), 'does not fit'],
    [
      'nonce',
      (one) => replace(one, 'signature-input', (v) => v.replace(/nonce="./, 'nonce="-')),
      'does not fit',
    ],
    [
      'tag',
      (one) => replace(one, 'signature-input', (v) => v.replace(TAG, 'bot')),
      'no signature with the tag',
    ],
    [
      'what it covers',
      (one) => replace(one, 'signature-input', (v) => v.replace('"@authority" ', '')),
      'is not covered',
    ],
    [
      'signature',
      (one) =>
        replace(one, 'signature', (v) => v.replace(/:(.)/, (_, c) => `:${c === 'A' ? 'B' : 'A'}`)),
      'does not fit',
    ],
  ]
  test.each(ALTERED)('with another %s are all refused', async (_, change, why) => {
    const { keys } = await readKeys()
    for (const request of seen)
      expect(() => verify(change(request), TAG, keys, seconds())).toThrow(why)
  })

  test('are refused before and after their time, and by another key', async () => {
    const { keys } = await readKeys()
    const other = { kty: 'OKP', crv: 'Ed25519', x: Buffer.alloc(32, 9).toString('base64url') }
    for (const request of seen) {
      expect(() => verify(request, TAG, keys, seconds() - 3600)).toThrow('not at this time')
      expect(() => verify(request, TAG, keys, seconds() + 301)).toThrow('not at this time')
      expect(() => verify(request, TAG, [other], seconds())).toThrow('not published')
    }
  })
})

describe('the directory of keys', () => {
  test('is what the profile asks for, and signed for its own address', async () => {
    const { answer, body, keys } = await readKeys()
    expect(answer.headers.get('content-type')).toBe(
      'application/http-message-signatures-directory+json',
    )
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300')
    expect(keys).toEqual([
      { kty: 'OKP', crv: 'Ed25519', use: 'sig', kid: thumbprintOf(keys[0]), x: keys[0].x },
    ])
    const digest = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(body)))
    expect(answer.headers.get('content-digest')).toBe(`sha-256=:${digest.toString('base64')}:`)
    const shownAt = (host: string) => {
      const rawHeaders = ['host', host]
      const request: Arrived = { method: 'GET', target: DIRECTORY, scheme: 'https', rawHeaders }
      const message = { rawHeaders: [...answer.headers].flat(), request }
      return verify(message, 'http-message-signatures-directory', keys, seconds())
    }
    expect(shownAt('waypost.example').covered).toEqual(['"@authority";req', '"content-digest"'])
    expect(() => shownAt('copy.example')).toThrow('does not fit')
  })

  async function inWorld(env: Record<string, string>, run: (world: World) => Promise<void>) {
    const STATE_DIR = tempFolder('sign')
    const world = await openWorld({ env: { STATE_DIR, ...env } })
    try {
      await run(world)
    } finally {
      await world.close()
    }
  }

  test('has another key after a rotation, which is never the one that signs receipts', () =>
    inWorld({ BASE_URL }, async (world) => {
      const [before] = (await readKeys(world.url)).keys
      await rotateKeys(world.parts.ledger.store, world.clock.now())
      world.clock.move(31_000)
      const [after] = (await readKeys(world.url)).keys
      expect(after.kid).not.toBe(before.kid)
      const receipts = await fetch(`${world.url}/.well-known/receipt-keys.json`)
      const published = (await receipts.json()).keys
      expect(published).toHaveLength(2)
      const own = published.map(({ public_key }: { public_key: string }) => public_key)
      expect(own).not.toContain(after.x)
      expect(own).not.toContain(before.x)
    }))

  test.each([
    ['at an address without https', { BASE_URL: 'http://127.0.0.1:9' }],
    ['with PROBE_SIGN=off', { BASE_URL, PROBE_SIGN: 'off' }],
  ])('%s is empty, and nothing is signed', (_, env) =>
    inWorld(env, async ({ url, parts }) => {
      const { answer, keys } = await readKeys(url)
      expect(keys).toEqual([])
      expect(answer.headers.get('signature')).toBeNull()
      const sign = createRequestSigner(parts, createProbeSigner(parts))
      expect(await sign({ method: 'GET', url: 'https://seller.example/' })).toEqual({})
    }),
  )
})

describe('what is signed', () => {
  test('each step of a redirect, for the host that it goes to', async () => {
    const last = await start(startSite((_req, res) => res.end('{}')))
    const first = await start(
      startSite((_req, res) => res.writeHead(302, { location: `${last.url}/there` }).end()),
    )
    arrived = []
    const { config, resolver, sign } = service.service.parts
    await using client = createHttpClient('claim', { config, resolver, sign })
    await client.fetch({ method: 'GET', url: `${first.url}/here`, mayFollow: () => true })
    const { keys } = await readKeys()
    expect(arrived.map(({ target }) => target)).toEqual(['/here', '/there'])
    for (const request of arrived) verify(request, TAG, keys, seconds())
  })

  test('never a call that the relay passes on, nor a request that has a signature of its own', async () => {
    const { url } = await startSeller()
    const { parts } = service.service
    const { listings } = parts.release()
    if (!(listings instanceof Map)) throw new Error('expected a map')
    listings.set('api.sold', { ...liveListing('api.sold', `${url}/sold`), buy: 'relay_x402' })
    arrived = []
    await fetch(`${service.url}/api/v1/call/api.sold`)
    expect(arrived.map(({ target }) => target)).toEqual(['/sold'])
    const { config, resolver, sign } = parts
    await using client = createHttpClient('probe', { config, resolver, sign })
    await client.fetch({ method: 'GET', url, headers: { Signature: 'of the seller' } })
    const names = arrived.flatMap(({ rawHeaders }) => rawHeaders.filter((_, at) => at % 2 === 0))
    expect(names.filter((name) => /^signature/i.test(name))).toEqual(['Signature'])
  })

  test('by a command too, with the key of the ledger that is there', async () => {
    const { url } = await startSeller()
    const { STATE_DIR } = service.service.parts.config
    const { keys } = await readKeys()
    const lint = async (env: Record<string, string>) => {
      arrived = []
      const variables = { BASE_URL, UNSAFE_ALLOW_PRIVATE_TARGETS: 'true', ...env }
      await runHere(() => runLint([url, '--as', 'http']), variables)
      expect(arrived).toHaveLength(1)
      return arrived
    }
    const [signed] = await lint({ STATE_DIR })
    if (signed === undefined) throw new Error('nothing came')
    expect(verify(signed, TAG, keys, seconds()).agent).toBe(`"${BASE_URL}"`)
    const [unsigned] = await lint({ STATE_DIR: `${STATE_DIR}/none` })
    expect(unsigned?.rawHeaders.join()).not.toMatch(/signature/i)
  })
})

/** Its key is that of RFC 9421, appendix B.1.4. */
test('the verifier accepts the example of the draft, and not its signature over another host', () => {
  const x = 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs'
  const example = (host: string): Arrived => ({
    method: 'GET',
    target: '/path/to/resource',
    scheme: 'https',
    rawHeaders: [
      ...['Host', host],
      ...['Signature-Agent', 'agent2="https://signature-agent.test"'],
      'Signature-Input',
      'sig2=("@authority" "signature-agent";key="agent2");created=1735689600;keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=4889289600;nonce="n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==";tag="web-bot-auth"',
      'Signature',
      'sig2=:RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==:',
    ],
  })
  const keys = [{ kty: 'OKP', crv: 'Ed25519', x }]
  expect(verify(example('EXAMPLE.com:443'), TAG, keys, 1_735_689_601).covered).toHaveLength(2)
  expect(() => verify(example('other.example'), TAG, keys, 1_735_689_601)).toThrow('does not fit')
})
