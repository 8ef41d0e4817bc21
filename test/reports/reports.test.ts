import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { forAllTests } from '../support/for-tests.ts'
import { serveFixture, startService } from '../support/running-service.ts'
import { startSite } from '../support/site.ts'

const EMAIL = 'secret-person@shop.example'
const URL_OF_NEW = 'https://api.tides.example/tides'

const seller = forAllTests(startSite)
const waypost = serveFixture({
  UNSAFE_ALLOW_PRIVATE_TARGETS: 'true',
  RATE_LIMITS: '{"propose":"off","dispute":"off","search":"off"}',
})
const strict = serveFixture()
let connections = 0
beforeAll(() => {
  seller.server.on('connection', () => {
    connections += 1
  })
})
beforeEach(async () => {
  await waypost.service.parts.ledger.store.db.deleteFrom('report').execute()
})

async function report(body: object, at = waypost, headers: Record<string, string> = {}) {
  const response = await fetch(`${at.url}/api/v1/reports`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

const propose = (about: string, more: object = {}) => report({ kind: 'new', about, ...more })

const sendForm = (form: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(`${waypost.url}/report`, {
    method: 'POST',
    headers,
    body: new URLSearchParams(form),
  })

const read = async (path: string) => (await fetch(`${waypost.url}${path}`)).text()

const rows = () =>
  waypost.service.parts.ledger.store.db
    .selectFrom('report')
    .selectAll()
    .orderBy('created_at')
    .execute()

function aListing() {
  const [listing] = waypost.service.parts.release().listings.values()
  if (listing === undefined) throw new Error('expected a listing')
  return listing
}

describe('POST /api/v1/reports', () => {
  test.each(['https://größe.example/v1', 'größe.example/v1'])(
    'names a host as people write it: %s',
    async (about) => {
      const form = { kind: 'new', about, text: 'Measures lengths.' }
      const answers = [sendForm(form), ...(about.includes('://') ? [propose(about)] : [])]
      for (const { status } of await Promise.all(answers)) expect(status).toBeLessThan(400)
      expect((await rows()).map(({ url }) => url)).toEqual(
        answers.map(() => 'https://xn--gre-6ka8i.example/v1').slice(0, 1),
      )
    },
  )

  test('of a new service waits for a person, and nobody is asked before', async () => {
    connections = 0
    const about = `${seller.url}/tides`
    const { status, body } = await propose(about, { text: 'Tides, a cent a call.', email: EMAIL })
    expect([status, body]).toEqual([
      202,
      { status: 'waiting', id: body.id, page: `/report?id=${body.id}` },
    ])
    expect(await rows()).toMatchObject([
      { id: body.id, kind: 'new', url: about, state: 'waiting', email: EMAIL },
    ])
    expect(waypost.log.join('')).not.toContain('secret-person')
    expect(connections).toBe(0)
  })

  test('of one address waits once, whatever is said of it', async () => {
    const first = await propose(URL_OF_NEW)
    const second = await propose(URL_OF_NEW, { text: 'again' })
    expect(second.body.id).toBe(first.body.id)
    expect(await rows()).toHaveLength(1)
  })

  test('names the listing where the address is listed already', async () => {
    const { id, url } = aListing()
    const { status, body } = await propose(url)
    expect([status, body]).toEqual([
      200,
      { status: 'listed', listing_id: id, page: `/listing/${id}` },
    ])
    expect(await rows()).toEqual([])
  })

  test('of a mistake waits with its listing, and each other word waits, too', async () => {
    const { id } = aListing()
    const first = await report({ kind: 'wrong', about: id, text: 'It costs two cents.' })
    const again = await report({ kind: 'wrong', about: id, text: 'It costs two cents.' })
    expect([first.status, again.body.id]).toEqual([202, first.body.id])
    await report({ kind: 'wrong', about: id, text: 'It has moved.', links: ['https://a.example/'] })
    expect(await rows()).toMatchObject([
      { id: first.body.id, kind: 'wrong', listing_id: id, text: 'It costs two cents.' },
      { listing_id: id, text: 'It has moved.', links: '["https://a.example/"]' },
    ])
    const page = await read(first.body.page)
    expect(page).toContain(`/listing/${id}`)
    expect(page).not.toContain('It costs two cents.')
  })

  test.each([
    [{ kind: 'new' }, 'about'],
    [{ kind: 'new', about: 'not a url' }, 'about'],
    [{ kind: 'new', about: 7 }, 'about'],
    [{ kind: 'new', about: `https://a.example/${'x'.repeat(2000)}` }, 'about'],
    [{ kind: 'new', about: 'https://waypost.example/api/v1/search' }, 'about'],
    [{ kind: 'old', about: 'https://a.example/' }, 'kind'],
    [{ kind: 'new', about: 'https://a.example/', text: 'x'.repeat(1001) }, 'text'],
    [{ kind: 'new', about: 'https://a.example/', text: 'a\u0000b\u202ec' }, 'text'],
    [{ kind: 'wrong', about: 'x402.a', text: ' ' }, 'text'],
    [{ kind: 'dispute', about: 'x402.a', text: 'too short' }, 'text'],
    [{ kind: 'new', about: 'https://a.example/', links: ['http://a.example/'] }, 'links.0'],
    [{ kind: 'new', about: 'https://a.example/', email: 'a@b, c@d' }, 'email'],
    [{ kind: 'new', about: 'https://a.example/', mail: EMAIL }, 'mail'],
  ])('refuses %j and names %s', async (body, name) => {
    const answer = await report(body)
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid-parameter'])
    expect(answer.body.errors).toMatchObject([{ in: 'body', name }])
  })

  test('knows no listing by a wrong id', async () => {
    const answer = await report({ kind: 'wrong', about: 'x402.nobody', text: 'Wrong.' })
    expect([answer.status, answer.body.code]).toEqual([404, 'listing-not-found'])
  })

  test('takes nothing that a page of another site sends', async () => {
    const body = { kind: 'new', about: URL_OF_NEW }
    const answer = await report(body, waypost, { origin: 'https://evil.example' })
    expect([answer.status, answer.body.code]).toEqual([403, 'cross-site'])
  })
})

describe('what strangers could do with it', () => {
  test.each([
    'http://example.com/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://169.254.169.254/latest/meta-data/',
    'https://2130706433/',
    'https://localhost/',
    'https://10.0.0.1.nip.io/',
    'https://user:pass@shop.example/',
    'https://shop.example:8443/',
  ])('%s does not even wait', async (about) => {
    const { status, body } = await report({ kind: 'new', about }, strict)
    expect([status, body.code]).toEqual([400, 'invalid-parameter'])
  })

  test.each(['propose', 'dispute'])('they are counted against the limit `%s`', async (name) => {
    const limited = await startService({ RATE_LIMITS: JSON.stringify({ [name]: '1/3600' }) })
    const text = 'It answers with advertisements instead of tides.'
    const body =
      name === 'propose'
        ? { kind: 'new', about: URL_OF_NEW }
        : { kind: 'dispute', about: aListing().id, text }
    try {
      expect((await report(body, limited)).status).toBe(202)
      const refused = await report(body, limited)
      expect([refused.status, refused.body.code]).toEqual([429, 'rate-limited'])
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    } finally {
      await limited.close()
    }
  })

  test('a host has a few places in the queue, not all of them', async () => {
    const statuses: number[] = []
    for (let i = 0; i < 7; i += 1)
      statuses.push((await propose(`https://api.tides.example/${i}`)).status)
    expect(statuses).toEqual([202, 202, 202, 202, 202, 503, 503])
    expect((await propose('https://other.tides.example/')).status).toBe(202)
  })

  test('the queue is bounded for each kind, so that none takes the places of another', async () => {
    const { db } = waypost.service.parts.ledger.store
    const row = (i: number) => ({
      ...{ id: `r${i}`, kind: 'new' as const, url: `https://${i}.example/`, host: `${i}.example` },
      ...{ listing_id: null, receipt: null, text: '', links: '[]', email: null },
      ...{ state: 'waiting' as const, reason: null, created_at: 1, settled_at: null },
    })
    await db
      .insertInto('report')
      .values(Array.from({ length: 500 }, (_, i) => row(i)))
      .execute()
    const { status, body } = await propose(URL_OF_NEW)
    expect([status, body.code]).toEqual([503, 'reports-full'])
    expect(await rows()).toHaveLength(500)
    const wrong = await report({ kind: 'wrong', about: aListing().id, text: 'It has moved.' })
    expect(wrong.status).toBe(202)
  })
})

describe('/report without JavaScript', () => {
  test('has a form, takes it, and shows what became of it', async () => {
    const form = await read('/report')
    expect(form).toMatch(/<form [^>]*method="post" action="\/report"/)
    expect(form).toContain('Propose a listing')
    // People type a host alone.
    const sent = await sendForm({ kind: 'new', about: 'tides.example/api', text: '', email: EMAIL })
    const html = await sent.text()
    expect(sent.status).toBe(202)
    expect(html).toContain('A person will review it')
    expect(html).not.toContain(EMAIL)
    const [row] = await rows()
    expect(row).toMatchObject({ url: 'https://tides.example/api', email: EMAIL })
    expect(await read(`/report?id=${row?.id}`)).toContain('https://tides.example/api')
  })

  test('a listing’s page leads to its correction and its dispute', async () => {
    const { id } = aListing()
    const listed = await read(`/listing/${id}`)
    for (const [kind, title] of [
      ['wrong', 'Correct a listing'],
      ['dispute', 'Dispute a listing'],
    ] as const) {
      expect(listed).toContain(`href="/report?kind=${kind}&amp;about=${id}"`)
      const form = await read(`/report?kind=${kind}&about=${id}`)
      expect(form).toContain(title)
      expect(form).toContain(`value="${id}"`)
      const text = `Wrong host, and the price is not what it says. ${kind}`
      const sent = await sendForm({ kind, about: id, text, links: 'https://a.example/ \r\n' })
      expect(sent.status).toBe(202)
    }
    expect((await rows()).map(({ kind, listing_id }) => [kind, listing_id])).toEqual(
      expect.arrayContaining([
        ['wrong', id],
        ['dispute', id],
      ]),
    )
  })

  test('leads from an address that is listed already to the correction of its listing', async () => {
    const { id, url } = aListing()
    const html = await (await sendForm({ kind: 'new', about: url })).text()
    expect(html).toContain('already listed')
    expect(html).toContain(`href="/report?kind=wrong&amp;about=${id}"`)
  })

  test('says what is wrong, and keeps what was typed', async () => {
    const sent = await sendForm({ kind: 'new', about: 'ftp://x.example/', text: 'my <note>' })
    const html = await sent.text()
    expect(sent.status).toBe(400)
    expect(html).toContain('role="alert"')
    expect(html).toContain('ftp://x.example/')
    expect(html).toContain('my &lt;note&gt;')
  })

  test('takes no form of another site, and none that is too long', async () => {
    const other = await sendForm(
      { kind: 'new', about: URL_OF_NEW },
      { origin: 'https://evil.example' },
    )
    expect(other.status).toBe(403)
    const long = await sendForm({ kind: 'new', about: URL_OF_NEW, text: 'x'.repeat(20_000) })
    expect(long.status).toBe(413)
    expect(await rows()).toEqual([])
  })

  test('knows no report by a wrong id', async () => {
    for (const id of ['r000000000000000000', '%00'])
      expect((await fetch(`${waypost.url}/report?id=${id}`)).status).toBe(404)
  })
})
