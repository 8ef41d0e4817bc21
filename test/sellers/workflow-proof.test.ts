import {
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from 'jose'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { reverifyClaims } from '../../functions/sellers/claim-checks.ts'
import { claimRulesOf } from '../../functions/sellers/claims.ts'
import { readContent } from '../../src/content/read.ts'
import { readPayoutStates } from '../../src/derive/payouts.ts'
import { GITHUB_ISSUER, judgeClaim, toClaimWays } from '../../src/domain/sellers/claim-rules.ts'
import { NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'
import { CLAIM_METHODS, type ClaimMethod } from '../../src/domain/wire/vocabulary.ts'
import { createContentFolder, listingText } from '../support/content-folder.ts'
import { liveListing } from '../support/live-listing.ts'
import { SHARED_HOSTS } from '../support/shared-hosts.ts'
import { type Site, startSite } from '../support/site.ts'
import { describeStores } from '../support/stores.ts'
import { createVisitor, type Visitor } from '../support/visitor.ts'
import { ALL_LIMITS_OFF, openWorld, type World } from '../support/world.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

type Key = Awaited<ReturnType<typeof generateKeyPair>>

describeStores('claiming a page of a code host by a workflow', ({ newPlace }) => {
  let world: World
  /** Code host and token server in one, as an installation has them. */
  let issuer: Site
  let ann: Visitor
  let bob: Visitor
  let key: Key
  let other: Key
  /** Keys that the issuer publishes, by their ids, and how often they were read. */
  let published: Record<string, Key>
  let reads: number

  beforeAll(async () => {
    issuer = await startSite()
    key = await generateKeyPair('RS256')
    other = await generateKeyPair('RS256')
    const { config } = await newPlace()
    world = await openWorld({
      env: {
        ...config,
        OIDC_ISSUER: issuer.url,
        RATE_LIMITS: ALL_LIMITS_OFF,
        UNSAFE_ALLOW_PRIVATE_TARGETS: 'true',
      },
      listings: [
        liveListing('mcp.tides', `${issuer.url}/Acme/tides/tree/main`),
        liveListing('mcp.clouds', `${issuer.url}/acme/clouds`),
        liveListing('mcp.owner', `${issuer.url}/acme`),
        liveListing('x402.shop', 'https://api.shop.example/v1'),
      ],
    })
    ann = createVisitor(world)
    bob = createVisitor(world)
    await ann.signIn('ann@shop.example')
    await bob.signIn('bob@rival.example')
  })
  afterAll(async () => {
    await world.close()
    await issuer.close()
  })
  beforeEach(async () => {
    published = { one: key }
    reads = 0
    issuer.answer = async (req, res) => {
      const isKeys = req.url === '/keys'
      if (isKeys) reads += 1
      const keys = await Promise.all(
        Object.entries(published).map(async ([kid, { publicKey }]) => ({
          ...{ kid, alg: 'RS256', use: 'sig' },
          ...(await exportJWK(publicKey)),
        })),
      )
      const discovery = { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` }
      res.end(JSON.stringify(isKeys ? { keys } : discovery))
    }
    // Keys of an earlier test are forgotten.
    world.clock.move(2 * HOUR)
    world.mails.length = 0
    await world.parts.ledger.store.db.deleteFrom('claim').execute()
  })

  async function start(listing_id = 'mcp.tides', visitor = ann) {
    const answer = await visitor.post('/claim', { listing_id, method: 'oidc' })
    expect(answer.status).toBe(200)
    const { claim, token, instructions } = await answer.json()
    return { id: String(claim.id), audience: `${world.url}/listing-claim/${token}`, instructions }
  }

  const now = () => Math.floor(world.clock.now() / 1000)
  function claimsFor(audience: string, changes: Record<string, unknown> = {}): JWTPayload {
    return {
      ...{ iss: issuer.url, aud: audience, iat: now(), nbf: now() - 5, exp: now() + 300 },
      ...{ repository: 'Acme/tides', repository_id: '11' },
      ...{ repository_owner: 'Acme', repository_owner_id: '7', event_name: 'push' },
      ...changes,
    }
  }
  const sign = (payload: JWTPayload, { privateKey } = key, kid = 'one') =>
    new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey)

  async function send(id: string, token: string) {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${world.url}/api/v1/sellers/claim/${id}/check`, {
      ...{ method: 'POST', headers },
    })
    return { status: answer.status, body: await answer.json() }
  }
  const stateOf = async (id: string) => {
    const { claims } = await (await ann.get('/claim')).json()
    return claims.find((claim: { id: string }) => claim.id === id).state
  }

  test('the workflow of the repository proves it, and its steps say how', async () => {
    const { id, audience, instructions } = await start()
    expect(instructions.value).toBe(audience)
    expect(instructions.guide[0].code).toContain(`&audience=${audience}"`)
    expect(instructions.guide[0].code).toContain(`/claim/${id}/check`)
    expect(instructions.guide[0].text).toContain('acme/tides')
    const { status, body } = await send(id, await sign(claimsFor(audience)))
    expect([status, body.result.observed]).toEqual([200, 'Acme/tides (11) of Acme (7), on push'])
    expect(body.claim).toMatchObject({ state: 'verified', method: 'oidc' })
    await world.parts.ledger.mails.send()
    expect(world.mails.map(({ to }) => to)).toEqual(['ann@shop.example'])
  })

  test('the seller who presses the button is told to run the workflow', async () => {
    const { id } = await start()
    const { result } = await (await ann.post(`/claim/${id}/check`, undefined)).json()
    expect(result).toMatchObject({ verified: false, reason: 'token_absent' })
    expect(reads).toBe(0)
  })

  const late = (seconds: number) => ({ iat: now() - seconds, nbf: now() - seconds })
  test.each<[string, RegExp, (audience: string) => JWTPayload | Promise<string>]>([
    ['for another audience', /"aud"/, () => claimsFor('https://other.example')],
    ['for two audiences, none of them ours', /"aud"/, () => claimsFor('', { aud: ['a', 'b'] })],
    ['of another issuer', /"iss"/, (aud) => claimsFor(aud, { iss: 'https://evil.example' })],
    ['that ended', /"exp"/, (aud) => claimsFor(aud, { ...late(400), exp: now() - 100 })],
    ['that never ends', /"exp"/, (aud) => claimsFor(aud, { exp: undefined })],
    ['of long ago', /"iat"/, (aud) => claimsFor(aud, late(3600))],
    ['of the future', /"nbf"|"iat"/, (aud) => claimsFor(aud, late(-3600))],
    [
      'of another owner',
      /Mallory/,
      (aud) => claimsFor(aud, { repository: 'Mallory/tides', repository_owner: 'Mallory' }),
    ],
    [
      'of another repository',
      /run the workflow in/i,
      (aud) => claimsFor(aud, { repository: 'acme/clouds' }),
    ],
    [
      'that names two owners',
      /run the workflow in/i,
      (aud) => claimsFor(aud, { repository_owner: 'mallory' }),
    ],
    [
      'of a pull request',
      /pull_request/,
      (aud) => claimsFor(aud, { event_name: 'pull_request_target' }),
    ],
    ['of no workflow', /not a workflow token/, (aud) => claimsFor(aud, { repository: undefined })],
    ['signed by another key', /signature/, (aud) => sign(claimsFor(aud), other)],
    ['signed by a key nobody knows', /key/, (aud) => sign(claimsFor(aud), other, 'two')],
    [
      'without a signature',
      /Invalid|alg/,
      async (aud) => new UnsecuredJWT(claimsFor(aud)).encode(),
    ],
    [
      'signed with the public key as a secret',
      /alg/,
      async (aud) =>
        new SignJWT(claimsFor(aud))
          .setProtectedHeader({ alg: 'HS256', kid: 'one' })
          .sign(new TextEncoder().encode(await exportSPKI(key.publicKey))),
    ],
    ['that is none', /invalid/, async () => `x.${'y'.repeat(4000)}.z`],
  ])('a token %s proves nothing, and is told why', async (_, why, make) => {
    const { id, audience } = await start()
    const made = await make(audience)
    const answer = await send(id, typeof made === 'string' ? made : await sign(made))
    expect([answer.status, answer.body.code]).toEqual([400, 'token-invalid'])
    expect(answer.body.detail).toMatch(why)
    expect(await stateOf(id)).toBe('pending')
  })

  test('a token serves for one claim: not for the rival’s, nor after a claim has ended', async () => {
    const mine = await start()
    const theirs = await start('mcp.tides', bob)
    const token = await sign(claimsFor(mine.audience))
    expect((await send(theirs.id, token)).status).toBe(400)
    expect((await send(mine.id, token)).status).toBe(200)
    const winning = await sign(claimsFor(theirs.audience))
    expect((await send(theirs.id, winning)).status).toBe(200)
    expect([await stateOf(mine.id), (await send(mine.id, token)).status]).toEqual([
      'superseded',
      400,
    ])
    const unknown = '4e1856d4-3cc6-47ca-9fb3-2855427d6d1c'
    expect((await send(unknown, token)).body.code).toBe('claim-not-found')
  })

  test('a new key is found once a minute, and an unknown one costs no more', async () => {
    const { id, audience } = await start()
    expect((await send(id, await sign(claimsFor(audience)))).status).toBe(200)
    published = { one: key, two: other }
    const fresh = () => sign(claimsFor(audience), other, 'two')
    expect((await send(id, await fresh())).status).toBe(400)
    expect(reads).toBe(1)
    world.clock.move(MINUTE)
    expect((await send(id, await fresh())).status).toBe(200)
    for (const kid of ['three', 'four', 'five'])
      expect((await send(id, await sign(claimsFor(audience), other, kid))).status).toBe(400)
    expect(reads).toBe(2)
  })

  test.each<[string, Site['answer']]>([
    ['redirects', (_, res) => res.writeHead(302, { location: '/keys' }).end()],
    ['fails', (_, res) => res.writeHead(500).end()],
    ['speaks no JSON', (_, res) => res.end('<html>')],
    [
      'has no end',
      (_, res) => {
        const more = () => {
          while (res.write(' '.repeat(65_536)));
        }
        res.on('drain', more)
        more()
      },
    ],
    [
      'is another',
      (_, res) =>
        res.end(JSON.stringify({ issuer: 'https://x.example', jwks_uri: `${issuer.url}/keys` })),
    ],
    [
      'has its keys elsewhere',
      (_, res) =>
        res.end(JSON.stringify({ issuer: issuer.url, jwks_uri: 'https://x.example/keys' })),
    ],
  ])('an issuer that %s proves nothing, and is asked once a minute', async (_, answer) => {
    const { id, audience } = await start()
    const well = issuer.answer
    let requested = 0
    issuer.answer = (req, res) => {
      requested += 1
      answer(req, res)
    }
    for (let times = 0; times < 3; times += 1)
      expect((await send(id, await sign(claimsFor(audience)))).body.detail).toMatch(/again later/)
    expect(requested).toBe(1)
    issuer.answer = well
    world.clock.move(MINUTE)
    expect((await send(id, await sign(claimsFor(audience)))).status).toBe(200)
  })

  test('a workflow that falls silent is missed after thirty days; the claim lapses a week later', async () => {
    const { id, audience } = await start()
    const prove = async () => (await send(id, await sign(claimsFor(audience)))).status
    expect(await prove()).toBe(200)
    world.clock.move(29 * DAY)
    expect((await reverifyClaims(world.parts)).checked).toBe(0)
    expect(await prove()).toBe(200)
    world.clock.move(31 * DAY)
    expect(await reverifyClaims(world.parts)).toEqual({ checked: 1, failing: 1, lapsed: 0 })
    expect(await prove()).toBe(200)
    expect((await reverifyClaims(world.parts)).checked).toBe(0)
    world.clock.move(31 * DAY)
    expect((await reverifyClaims(world.parts)).failing).toBe(1)
    world.clock.move(8 * DAY)
    expect((await reverifyClaims(world.parts)).lapsed).toBe(1)
    // Thirty days later the session has ended too.
    await ann.signIn('ann@shop.example')
    expect(await stateOf(id)).toBe('lapsed')
  })

  test('the proof covers the repository: a listing that moves to another leaves it', async () => {
    const { id, audience } = await start()
    expect((await send(id, await sign(claimsFor(audience)))).status).toBe(200)
    const optOut = () => ann.post('/opt-out', { listing_id: 'mcp.tides' })
    expect((await optOut()).status).toBe(200)
    const before = world.listings.get('mcp.tides')
    world.listings.set('mcp.tides', liveListing('mcp.tides', `${issuer.url}/acme/clouds`))
    expect((await optOut()).status).toBe(404)
    if (before !== undefined) world.listings.set('mcp.tides', before)
  })

  test('what a listing says of its claim is what the server takes', async () => {
    const rules = claimRulesOf(world.parts)
    for (const [listing_id, { url }] of world.listings) {
      const taken: ClaimMethod[] = []
      for (const method of CLAIM_METHODS) {
        const { status } = await ann.post('/claim', { listing_id, method })
        if (status === 200) taken.push(method)
      }
      expect([listing_id, toClaimWays(url, rules, world.url).methods]).toEqual([listing_id, taken])
    }
  })

  test.each(['mcp.owner', 'x402.shop'])(
    '%s is not a repository, so no workflow speaks for it',
    async (listing_id) => {
      const answer = await ann.post('/claim', { listing_id, method: 'oidc' })
      expect([answer.status, (await answer.json()).code]).toEqual([422, 'claim-method-unavailable'])
    },
  )
})

test('who proved a payout for one page of a code host did so for no other page there', () => {
  const payout = `eip155:8453:0x${'a1'.repeat(20)}`
  const page = (name: string) =>
    listingText({ url: `https://github.com/${name}`, payout: `["${payout}"]` })
  const folder = createContentFolder({
    'listings/x402/tides.md': page('acme/tides'),
    'listings/x402/other.md': page('mallory/other'),
  })
  const { content, faults } = readContent(folder.dir, { allowPrivate: false })
  if (content === null) throw new Error(JSON.stringify(faults))
  const ledger = {
    ...NO_LEDGER_FACTS,
    claimed: new Map([['x402.tides', 'github.com/acme/tides']]),
    provenPayouts: new Map([['x402.tides', [payout]]]),
  }
  const states = readPayoutStates(content, ledger, 'https://waypost.example')
  expect(states.get('x402.tides')?.owned).toEqual([payout])
  expect(states.get('x402.other')).toMatchObject({ owned: [], contested: [] })
})

test.each([
  ['https://github.com/Acme/Tides.git', 'github.com/acme/tides', ['acme/tides']],
  ['https://acme.github.io/', 'acme.github.io', ['acme/acme.github.io']],
  ['https://acme.github.io/tides/x', 'acme.github.io', ['acme/acme.github.io', 'acme/tides']],
  ['https://github.com/acme', null, []],
  ['https://github.com.evil.example/acme/tides', null, []],
  ['https://a.acme.github.io/', null, []],
])('of %s a workflow proves %s', (url, place, repositories) => {
  const rules = { allowPrivate: false, sharedHosts: SHARED_HOSTS, issuer: GITHUB_ISSUER }
  const verdict = judgeClaim(url, 'oidc', rules)
  const host = verdict.allowed ? verdict.host : { host: null, repositories: [] }
  expect([host.host, host.repositories]).toEqual([place, repositories])
})
