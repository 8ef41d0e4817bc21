import { describe, expect, onTestFinished, test } from 'vitest'
import { runLint } from '../../functions/commands/evidence/lint-listing.ts'
import { lintUrl } from '../../functions/probes/lint.ts'
import { createContentFolder, listingText } from '../support/content-folder.ts'
import { runHere } from '../support/run-here.ts'
import { startService } from '../support/running-service.ts'
import { startSite } from '../support/site.ts'
import { startFormer } from './mcp-sites.ts'
import { OFFER, openClient, openSite, toTerms } from './probe-world.ts'

const offer = { ...OFFER, amount: '70000' }
const USDC_E = '0x20c000000000000000000000b9537d11c60e8b50'

/** A seller whose paid operation takes POST alone. */
const startSeller = (accepts: unknown[] = [offer]) =>
  openSite((req, res) => {
    if (req.method === 'POST' && !/mcp|rpc/.test(String(req.headers['mcp-method'])))
      res.writeHead(402, { 'payment-required': toTerms(accepts) }).end('{}')
    else res.writeHead(405).end()
  })

const lint = (url: string, as?: 'mcp' | 'x402' | 'http') => lintUrl(url, as, openClient(), Date.now)

describe('the linter', () => {
  test('takes an MCP server for one, and says which tool has no description', async () => {
    const site = await startFormer(true)
    onTestFinished(site.close)
    const report = await lint(`${site.url}/mcp`)
    expect(report).toMatchObject({ took_for: 'mcp', verdict: 'problems' })
    expect(report.problems).toMatchObject([{ what: expect.stringContaining('sink_ship') }])
    expect(report.asked[0]).toMatchObject({
      method: 'POST',
      came_back: expect.stringContaining('status'),
    })
  })

  test('finds a paid operation that takes POST alone', async () => {
    const { url } = await startSeller()
    expect(await lint(`${url}/paid`, 'x402')).toMatchObject({
      took_for: 'x402',
      verdict: 'clean',
      problems: [],
    })
  })

  test('names what is wrong with an offer', async () => {
    const { url } = await startSeller([
      { ...offer, payTo: 'nobody' },
      { ...offer, amount: '9000000000' },
    ])
    const { problems } = await lint(url, 'x402')
    expect(problems.map(({ what }) => what).join(' ')).toMatch(
      /not an address .* more than \$1,000/,
    )
  })

  test('says what would be right where nothing speaks', async () => {
    const site = await openSite((_req, res) =>
      res.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    )
    const report = await lint(site.url)
    expect(report).toMatchObject({ took_for: null, verdict: 'problems' })
    expect(report.asked.map(({ method }) => method)).toEqual([
      'POST',
      'POST',
      'GET',
      'POST',
      'GET',
      'GET',
    ])
  })

  test('does not follow a redirect, and says why', async () => {
    const site = await openSite((_req, res) => res.writeHead(308, { location: '/x' }).end())
    const { problems } = await lint(site.url, 'http')
    expect(problems[0]?.change).toContain('redirects are never followed')
  })
})

describe('npm run lint:listing', () => {
  async function command(...args: string[]) {
    const env = { UNSAFE_ALLOW_PRIVATE_TARGETS: 'true' }
    const { status, stdout, stderr } = await runHere(() => runLint(args), env)
    return { code: status, out: stdout + stderr }
  }

  test('ends with 0 where a listing and its service are clean, 1 where they disagree', async () => {
    const { url } = await startSeller()
    const content = createContentFolder()
    const http = `[{ method: POST, url: "${url}/paid", body: { example: {} } }]`
    const pricing = (most: string) =>
      `{ model: per_call, min_usd: 0.01, max_usd: ${most}, rails: [x402], networks: ["eip155:8453"] }`
    content.write('listings/x402/fine.md', listingText({ url, http, pricing: pricing('0.1') }))
    content.write('listings/x402/dear.md', listingText({ url, http, pricing: pricing('0.02') }))
    content.write('listings/x402/odd.md', listingText({ url, pirce: '1' }))
    const [fine, expensive, odd] = await Promise.all(
      ['fine', 'dear', 'odd'].map((slug) => command(`${content.dir}/listings/x402/${slug}.md`)),
    )
    expect(fine?.out).toContain('Clean.')
    expect(fine?.code).toBe(0)
    expect(expensive).toMatchObject({
      code: 1,
      out: expect.stringContaining('is $0.07; the listing says at most $0.02'),
    })
    expect(odd).toMatchObject({ code: 1, out: expect.stringContaining('pirce') })
  })

  test('ends with 2 where the command is wrong, 3 where nobody is there', async () => {
    const site = await startSite(() => {})
    await site.close()
    const [wrong, nobody] = await Promise.all([
      command('a.md', '--as', 'carrier-pigeon'),
      command(site.url, '--json'),
    ])
    expect(wrong?.code).toBe(2)
    expect(nobody?.code).toBe(3)
    expect(JSON.parse(nobody?.out ?? '')).toMatchObject({ verdict: 'not_reached' })
  })
})

describe('/sellers/check', () => {
  test('answers without JavaScript: the form, a refusal, and its limit', async () => {
    const waypost = await startService({ RATE_LIMITS: '{"check":"1/60"}' })
    onTestFinished(waypost.close)
    const get = async (query: string) => {
      const response = await fetch(`${waypost.url}/sellers/check${query}`)
      return { status: response.status, headers: response.headers, text: await response.text() }
    }
    const form = await get('')
    expect(form.status).toBe(200)
    expect(form.text).toContain('name="url"')
    const refused = await get('?url=http://169.254.169.254/')
    expect(refused).toMatchObject({
      status: 400,
      text: expect.stringContaining('Address: expected an https URL'),
    })
    // A name that cannot exist: asked, and not reached.
    const requested = await get('?url=https://nobody.waypost-check.example/mcp')
    expect(requested.status).toBe(200)
    expect(requested.text).toContain('Requests and answers')
    const limited = await get('?url=https://nobody.waypost-check.example/mcp')
    expect(limited.status).toBe(429)
    expect(limited.headers.get('retry-after')).not.toBeNull()
    const program = await fetch(
      `${waypost.url}/api/v1/lint?url=https://nobody.waypost-check.example/mcp`,
    )
    expect([program.status, (await program.json()).code]).toEqual([429, 'rate-limited'])
    expect(program.headers.get('retry-after')).not.toBeNull()
  })

  test('gives programs the same report', async () => {
    const waypost = await startService()
    onTestFinished(waypost.close)
    const get = async (query: string) => {
      const response = await fetch(`${waypost.url}/api/v1/lint${query}`)
      return { status: response.status, json: await response.json() }
    }
    const requested = await get('?url=https://nobody.waypost-check.example/mcp&as=mcp')
    expect(requested).toMatchObject({
      status: 200,
      json: { verdict: 'not_reached', took_for: null, asked: [{ method: 'POST' }] },
    })
    for (const [query, name] of [
      ['', 'url'],
      ['?url=http://169.254.169.254/', 'url'],
      ['?url=https://a.example&as=smtp', 'as'],
      ['?uri=https://a.example', 'uri'],
    ]) {
      const refused = await get(query ?? '')
      expect(refused).toMatchObject({ status: 400, json: { errors: [{ in: 'query', name }] } })
    }
  })

  test('answers who asks the price of a service paid by MPP alone', async () => {
    const asked = { amount: '20000', currency: USDC_E, recipient: `0x${'6'.repeat(40)}` }
    const request = Buffer.from(JSON.stringify(asked)).toString('base64url')
    const line = `Payment id="1", realm="r", method="tempo", intent="charge", request="${request}"`
    const { url } = await openSite((_req, res) =>
      res.writeHead(402, { 'www-authenticate': line }).end(),
    )
    const waypost = await startService({ UNSAFE_ALLOW_PRIVATE_TARGETS: 'true' })
    onTestFinished(waypost.close)
    const query = new URLSearchParams({ url: `${url}/paid` })
    const text = await (await fetch(`${waypost.url}/sellers/check?${query}`)).text()
    const words = text.replaceAll(/<[^>]*>/g, '')
    expect(words).toContain('What a call costs now')
    const cost = `$0.02 by mpp (tempo/charge) on Tempo, paid to eip155:4217:${asked.recipient}`
    expect(words).toContain(cost)
    const report = await (await fetch(`${waypost.url}/api/v1/lint?${query}`)).json()
    expect(report.terms).toMatchObject([{ rail: 'mpp', scheme: 'tempo/charge', usd: 0.02 }])
  })

  test('shows hostile words as words', async () => {
    const waypost = await startService()
    onTestFinished(waypost.close)
    const query = new URLSearchParams({ url: '"><script>alert(1)</script>' })
    const text = await (await fetch(`${waypost.url}/sellers/check?${query}`)).text()
    // Inside the quoted value of the field, and nowhere else.
    expect(text).toContain('value="&quot;><script>alert(1)</script>"')
    expect(text.split('<script>alert')).toHaveLength(2)
  })
})
