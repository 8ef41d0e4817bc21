import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { readSignInPath } from '../support/demo.ts'
import { serveFixture } from '../support/running-service.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** The pages of sellers, asked as any client may ask them. */
const EMAIL = 'owner@shop.example'
const stateDir = tempFolder('seller-pages')
const waypost = serveFixture({ STATE_DIR: stateDir })
let cookie = ''

beforeAll(async () => {
  const place = { listing: 'x402.weather', domain: 'weather.example' }
  const requested = await send('/sellers/sign-in', { email: EMAIL, ...place })
  const [wanted = ''] = requested.headers.getSetCookie()
  const query = new URLSearchParams(place)
  expect(wanted).toBe(`wanted=${query}; Max-Age=900; Path=/sellers; HttpOnly; SameSite=Lax; Secure`)
  const path = await readSignInPath(join(stateDir, 'outbox'), EMAIL)
  const token = new URLSearchParams(path.split('?')[1]).get('token') ?? ''
  const used = await send('/sellers/sign-in', { token }, { cookie: wanted.split(';')[0] ?? '' })
  expect(used.status).toBe(303)
  expect(used.headers.get('location')).toBe(`/sellers/dashboard?${query}#claim-new`)
  expect(used.headers.get('cache-control')).toBe('no-store')
  const [session = '', blank] = used.headers.getSetCookie()
  expect(blank).toMatch(/^wanted=; Max-Age=0; /)
  cookie = session.split(';')[0] ?? ''
})

function send(
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${waypost.url}${path}`, {
    method: 'POST',
    redirect: 'manual',
    headers,
    body: new URLSearchParams(fields),
  })
}

const act = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
  send('/sellers/dashboard', fields, { cookie, ...headers })

const CLAIM = { do: 'claim', listing_id: 'x402.weather', method: 'well_known' }

describe('the dashboard', () => {
  test('is the seller’s alone: no cache keeps it and nothing compresses it', async () => {
    const headers = { cookie, 'accept-encoding': 'br, gzip' }
    const page = await fetch(`${waypost.url}/sellers/dashboard`, { headers })
    expect(await page.text()).toContain(EMAIL)
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.headers.get('content-encoding')).toBeNull()
  })

  test('without a session it asks for the address and keeps the listing that is wanted', async () => {
    const page = await fetch(`${waypost.url}/sellers/dashboard?listing=x402.weather`)
    expect(page.status).toBe(200)
    const text = await page.text()
    expect(text).toContain('<input type="hidden" name="listing" value="x402.weather">')
    expect(text).toMatch(
      /Sign in to claim <bdi[^>]*>Fair Weather<\/bdi> of <bdi[^>]*>api\.weather\.example</,
    )
    expect(text).not.toContain(EMAIL)
  })

  test('of a claimed listing it says what its owner sees, and whoever came for it sees its proofs first', async () => {
    const text = await (await fetch(`${waypost.url}/sellers/dashboard?listing=x402.weather`)).text()
    expect(text.indexOf('id="sign-in"')).toBeGreaterThan(0)
    expect(text).not.toContain('id="find"')
    const headers = { cookie }
    const page = await (
      await fetch(`${waypost.url}/sellers/dashboard?listing=x402.tide-tables`, { headers })
    ).text()
    expect(page.indexOf('id="claim-new"')).toBeGreaterThan(0)
    expect(page.indexOf('id="claim-new"')).toBeLessThan(page.indexOf('id="find"'))
    const byId = await fetch(`${waypost.url}/sellers/dashboard?domain=mcp.notebook`, { headers })
    expect(await byId.text()).toContain('listing=mcp.notebook#claim-new')
  })

  test('of a host that many publish on it finds the listings of a repository alone', async () => {
    const find = async (place: string) =>
      (await fetch(`${waypost.url}/sellers/dashboard?domain=${place}`)).text()
    const link = 'href="/listing/mcp.notebook"'
    const all = await find('github.com')
    expect(all).toContain('where many people publish')
    expect(all).not.toContain(link)
    expect(await find('https://github.com/Notebook-example/mcp/issues')).toContain(link)
    expect(await find('github.com/notebook-example/other')).not.toContain(link)
    expect(await find('weather.example')).toContain('href="/listing/x402.weather"')
    expect(await find('Tide+tab')).toContain('href="/listing/x402.tide-tables"')
    expect(await find('no+such+name')).toMatch(/no listing for <bdi>no such name<\/bdi>\. /)
  })

  test.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another origin', { origin: 'https://evil.example' }],
  ])('a form of %s does nothing', async (_, headers) => {
    const answer = await act({ ...CLAIM, method: 'dns_txt' }, headers)
    expect(answer.status).toBe(403)
    expect(await answer.text()).toContain('Another site sent this form.')
    const kept = await fetch(`${waypost.url}/api/v1/sellers/claim`, { headers: { cookie } })
    const { claims }: { claims: { method: string }[] } = await kept.json()
    expect(claims.filter(({ method }) => method === 'dns_txt')).toEqual([])
  })

  test('a form without a session changes nothing and asks to sign in', async () => {
    const answer = await send('/sellers/dashboard', CLAIM)
    expect(await answer.text()).toContain('You are not signed in.')
  })

  test.each([
    [{ ...CLAIM, listing_id: 'x402.<b>nobody' }, 404, 'No listing has this id.'],
    [{ ...CLAIM, method: 'oidc' }, 422, 'so no workflow can speak for it'],
    [{ do: 'check', claim_id: 'somebody-elses' }, 404, 'You have no claim with this id.'],
    [{ do: 'opt_out', listing_id: 'x402.tide-tables', removed: 'yes' }, 404, 'You own no listing'],
    [{ do: 'prove', listing_id: 'x402.weather', payout: 'nonsense' }, 400, 'payout'],
    [{ do: 'everything' }, 400, 'do: expected claim, check'],
    [{ do: 'toString' }, 400, 'do: expected claim, check'],
    [{ do: '__proto__' }, 400, 'do: expected claim, check'],
    [{ do: 'constructor' }, 400, 'do: expected claim, check'],
  ])('what %j got wrong is said on the page', async (fields, status, words) => {
    const answer = await act(fields)
    expect(answer.status).toBe(status)
    const text = await answer.text()
    expect(text).toContain(words)
    expect(text).not.toMatch(/>[^<]*<b>nobody/)
  })

  test('a claim is started once, however often its steps are asked for', async () => {
    const first = await (await act(CLAIM)).text()
    const token = /<code>[^<]*[\w-]{43}/.exec(first)?.[0]
    expect(token).toBeDefined()
    expect(await (await act(CLAIM)).text()).toContain(token)
  })
})

test('a removal that waits is on every load of the dashboard, and can be taken back there', async () => {
  const claims = await fetch(`${waypost.url}/api/v1/sellers/claim`, { headers: { cookie } })
  const [claim]: { id: string }[] = (await claims.json()).claims
  const { db } = waypost.service.parts.ledger.store
  const { id = '' } = claim ?? {}
  const verified = { state: 'verified' as const, verified_at: Date.now() }
  await db.updateTable('claim').set(verified).where('id', '=', id).execute()
  const load = async () =>
    (await fetch(`${waypost.url}/sellers/dashboard`, { headers: { cookie } })).text()
  expect(await load()).toContain('Yes, remove it')
  await act({ do: 'opt_out', claim_id: id, listing_id: 'x402.weather', removed: 'yes' })
  const waiting = await load()
  expect(waiting).toContain('It leaves the directory with the next build')
  expect(waiting).toContain('<button>Keep it listed</button>')
  expect(waiting).not.toContain('Yes, remove it')
  await act({ do: 'opt_out', claim_id: id, listing_id: 'x402.weather' })
  expect(await load()).toContain('Yes, remove it')
})

test('a signature that cannot be read keeps the text to sign', async () => {
  const claims = await fetch(`${waypost.url}/api/v1/sellers/claim`, { headers: { cookie } })
  const [claim]: { id: string }[] = (await claims.json()).claims
  const { db } = waypost.service.parts.ledger.store
  const { id = '' } = claim ?? {}
  await db.updateTable('claim').set({ state: 'verified' }).where('id', '=', id).execute()
  const payout = 'eip155:8453:0x1111111111111111111111111111111111111111'
  const answer = await act({
    ...{ do: 'sign', claim_id: id, listing_id: 'x402.weather', payout },
    ...{ challenge: 'Sign this.\nNonce: 1', signature: '' },
  })
  expect(answer.status).toBe(400)
  expect(await answer.text()).toContain('Sign this.\nNonce: 1')
})

test('a token is used by sending it, never by opening its address', async () => {
  const path = '/sellers/sign-in?token="><script>alert(1)</script>'
  const page = await fetch(`${waypost.url}${encodeURI(path)}`)
  expect(page.headers.getSetCookie()).toEqual([])
  expect(await page.text()).toContain('value="&quot;><script>')
  const used = await send('/sellers/sign-in', { token: 'used-up' })
  expect(used.status).toBe(400)
  expect(await used.text()).toContain('Send the link')
})

test.each(['nobody', 'a@b.example, c@d.example'])('the address %j gets no mail', async (email) => {
  const answer = await send('/sellers/sign-in', { email })
  expect(answer.status).toBe(400)
  expect(await answer.text()).toContain('one plain address')
})

test.each(['/sellers/sign-in', '/sellers/dashboard', '/report'])(
  '%s says that a form can be sent to it, with its origin',
  async (path) => {
    const answer = await fetch(`${waypost.url}${path}`, { method: 'PUT' })
    expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS, POST')
    // A page without any referrer sends its forms from the origin "null".
    expect(await (await fetch(`${waypost.url}${path}`)).text()).not.toContain('no-referrer')
  },
)
