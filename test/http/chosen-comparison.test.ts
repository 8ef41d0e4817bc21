import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { ChosenComparisonSchema } from '../../src/domain/compare/compare-view.ts'
import { serveFixture } from '../support/running-service.ts'

const running = serveFixture()

async function read(query: string) {
  const response = await fetch(`${running.url}/api/v1/compare${query}`)
  return { status: response.status, json: await response.json() }
}

describe('a comparison of listings that a reader chose', () => {
  test('is a comparison record, ranked as every other, with our own kits apart', async () => {
    const { status, json } = await read('?ids=mcp.tenki,kit.first-steps,x402.weather')
    expect(status).toBe(200)
    const view = v.parse(v.strictObject(ChosenComparisonSchema.entries), json)
    expect(view.sections[0]?.rows.map(({ id }) => id)).toEqual(['x402.weather', 'mcp.tenki'])
    expect(view.first_party.map(({ id }) => id)).toEqual(['kit.first-steps'])
    expect(view.url).toContain('/compare?ids=')
  })

  test('its rows are those of the comparison page on the same listings, none called dedicated', async () => {
    const page = await (await fetch(`${running.url}/api/v1/compare/weather-and-tides`)).json()
    const [section] = page.sections
    const ids = section.rows.map(({ id }: { id: string }) => id)
    const { json } = await read(`?${ids.map((id: string) => `ids=${id}`).join('&')}`)
    const plain = section.rows.map((row: object) => ({ ...row, focus: 'broad' }))
    expect(json.sections[0].rows).toEqual(plain)
  })

  test('without a query the list of comparison pages', async () => {
    const { json } = await read('')
    expect(json.pages.map(({ slug }: { slug: string }) => slug)).toContain('weather-and-tides')
  })

  test.each([
    ['ids=x402.weather,mcp.tenki', 200, ['/listing/x402.weather', '/listing/mcp.tenki'], ''],
    [
      'ids=mcp.tenki&ids=x402.weather&utm_source=a',
      200,
      ['/listing/mcp.tenki', '/listing/x402.weather'],
      '',
    ],
    [
      'ids=x402.weather,mcp.nobody',
      404,
      ['/listing/x402.weather'],
      'No listing has the id mcp.nobody.',
    ],
    ['ids=mcp.nobody,%3Cb%3E', 404, [], '&lt;b&gt; is not a listing id.'],
    [`ids=${'abcdefgh'.replaceAll(/./g, 'mcp.$&,')}`, 404, [], '2 more ids are unknown.'],
    ['ids=x402.weather', 400, ['/listing/x402.weather'], 'Choose 2 to 6'],
    ['utm_source=a', 400, [], 'Choose 2 to 6'],
  ])('the page /compare?%s', async (query, status, listings, text) => {
    const response = await fetch(`${running.url}/compare?${query}`)
    const html = await response.text()
    expect(response.status).toBe(status)
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(html).toContain('<meta name="robots" content="noindex">')
    const head = html.slice(html.indexOf('<thead'), html.indexOf('</thead'))
    expect([...head.matchAll(/href="(\/listing\/[^"]+)"/g)].map(([, path]) => path)).toEqual(
      listings,
    )
    expect(html).toContain(text)
    expect(html).not.toContain('<b>')
  })

  test('more than six: the first six are shown and the others named', async () => {
    const { listings } = await (await fetch(`${running.url}/api/v1/search?limit=8`))
      .json()
      .then(({ results }) => ({ listings: results.map(({ id }: { id: string }) => id) }))
    const html = await (await fetch(`${running.url}/compare?ids=${listings.join(',')}`)).text()
    expect(html).toContain('6 services side by side')
    // The site links here too: nobody need have chosen them.
    expect(html).not.toContain('you chose')
    expect(html).toContain(`left out: ${listings.slice(6).join(', ')}.`)
  })

  test('without a query the page is the list of comparisons; its inner address is none', async () => {
    expect(await (await fetch(`${running.url}/compare`)).text()).toContain(
      '/compare/weather-and-tides',
    )
    expect(
      (await fetch(`${running.url}/compare/chosen.page?ids=x402.weather,mcp.tenki`)).status,
    ).toBe(404)
  })

  test.each([
    ['?ids=x402.weather', /2 to 6/],
    ['?ids=x402.weather,x402.weather', /2 to 6/],
    ['?ids=x402.weather,mcp.nobody', /mcp\.nobody/],
    ['?ids=', /2 to 6/],
    ['?id=x402.weather,mcp.tenki', /unknown parameter/],
  ])('%s is refused in words', async (query, detail) => {
    const { status, json } = await read(query)
    expect(status).toBe(400)
    expect(json).toMatchObject({ code: 'invalid-parameter', detail: expect.stringMatching(detail) })
  })
})
