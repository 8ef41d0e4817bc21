import { describe, expect, test } from 'vitest'
import { createOpenApi } from '../../src/build/openapi/create-openapi.ts'
import { ROUTES } from '../../src/domain/wire/routes.ts'
import { SITE_TEXTS } from '../domain/site-samples.ts'
import { serveFixture } from '../support/running-service.ts'

const waypost = serveFixture()

const ask = (path: string, method = 'GET') =>
  fetch(`${waypost.url}${path}`, { method, redirect: 'manual' })

const SAMPLES: Record<string, string> = {
  ':listing_id': 'x402.weather',
  ':slug': 'weather-and-tides',
  ':task_id': 'web_search',
}
const GETS = Object.values(ROUTES).filter(({ methods }) => methods.some((each) => each === 'GET'))
/** At the relay a seller may take HEAD for an unpaid GET. */
const READS = GETS.filter(({ path }) => path !== ROUTES.call.path).map(({ path }) =>
  path.replace(/:\w+/g, (name) => SAMPLES[name] ?? name),
)

test.each(READS)('HEAD answers as GET does at %s', async (path) => {
  const [get, head] = [await ask(path), await ask(path, 'HEAD')]
  expect(head.status).toBe(get.status)
  expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
  expect(await head.text()).toBe('')
})

describe('the OpenAPI document lists what is answered', () => {
  const { paths } = createOpenApi('https://waypost.example', SITE_TEXTS)
  const GONE = 'x402.former-tides'
  const of = ['listing', 'kit', 'call', 'go'] as const
  const answered: [keyof typeof ROUTES, string, number][] = [
    ...of.map((id): [typeof id, string, number] => [id, GONE, 410]),
    ...of.map((id): [typeof id, string, number] => [id, 'x402.former-weather', 308]),
    ...of.map((id): [typeof id, string, number] => [id, 'x402.nobody', 404]),
    ['compare_list', '?ids=x402.weather', 400],
    ['compare_list', '?nope=1', 400],
    ['kit', 'x402.weather/kit.json?view=compact', 200],
    ['kit', 'x402.nobody/kit.json?view=compact', 404],
    ['kit', `${GONE}/kit.json?view=compact`, 410],
    ['kit', 'x402.weather/kit.json?view=short', 400],
    ['kit', 'x402.weather/kit.json?view=compact&operation=99', 400],
    ['kit', 'x402.weather/kit.json?operation=0', 200],
    ['call', 'x402.weather?endpoint=//evil.example', 400],
    ['tasks', '', 200],
    ['search', '?offset=2147483648', 400],
  ]
  test.each(answered)('%s %s: %i', async (id, sample, status) => {
    const route = ROUTES[id]
    const path = route.path.includes(':listing_id')
      ? route.path.replace(/:listing_id(\/kit\.json)?/, (_, rest = '') =>
          sample.includes('/') ? sample : `${sample}${rest}`,
        )
      : `${route.path}${sample}`
    expect((await ask(path)).status).toBe(status)
    const { get } = Reflect.get(Object(paths), route.path.replace(/:(\w+)/g, '{$1}'))
    expect(Object.keys(get.responses)).toContain(String(status))
  })
})

describe('a machine finds its way', () => {
  test.each([
    ['/', ['rel="api-catalog"', 'rel="service-desc"', 'rel="service-doc"', 'rel="describedby"']],
    ['/.well-known/api-catalog', ['rel="api-catalog"']],
  ])('from the Link header of %s, by GET and HEAD', async (path, relations) => {
    for (const method of ['GET', 'HEAD']) {
      const link = (await ask(path, method)).headers.get('link') ?? ''
      for (const relation of relations) expect(link).toContain(relation)
      for (const [, address = ''] of link.matchAll(/<([^>]+)>/g))
        expect((await ask(address)).status, address).toBe(200)
    }
  })
})
