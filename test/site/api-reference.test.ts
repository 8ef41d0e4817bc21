import { expect, test } from 'vitest'
import { createOpenApi } from '../../src/build/openapi/create-openapi.ts'
import { toApiReference } from '../../src/components/docs/api-reference.ts'
import { toApiRun, toRunPath } from '../../src/components/docs/api-run.ts'
import { ROUTES } from '../../src/domain/wire/routes.ts'
import { SITE_TEXTS } from '../domain/site-samples.ts'

const baseUrl = 'https://waypost.example'
const reference = toApiReference(createOpenApi(baseUrl, SITE_TEXTS), {
  baseUrl,
  exampleId: 'x402.weather',
})
const endpoints = reference.groups.flatMap((group) => group.endpoints)
const find = (id: string) => endpoints.find((endpoint) => endpoint.id === id)

test('every route of the interface is described once', () => {
  const described = endpoints.flatMap(({ methods, path }) => methods.map((one) => `${one} ${path}`))
  const routed = Object.values(ROUTES).flatMap(({ methods, path }) =>
    methods.map((one) => `${one} ${path.replace(/:(\w+)/g, '{$1}')}`),
  )
  expect(described.toSorted()).toEqual(routed.toSorted())
})

test('the methods of the relay are one endpoint, with its anchor', () => {
  expect(find('call')).toMatchObject({ methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] })
})

test('every parameter, every field of a body and every endpoint is explained', () => {
  for (const { path, summary, description, fields } of endpoints) {
    expect([path, summary, description]).not.toContain('')
    for (const { name, text } of fields) expect([name, text]).not.toContain('')
  }
})

test('limits and choices of a parameter are said in words', () => {
  const types = Object.fromEntries(
    (find('search')?.fields ?? []).map((field) => [field.name, field.type]),
  )
  expect(types).toMatchObject({
    rail: 'one of x402, mpp',
    limit: 'integer, 1 to 50, default 20',
    has: 'list of one of openapi, llms_txt, x402_manifest, agent_card, ard, mcp_card',
  })
})

test('commands name a listing that exists, and send what a body needs', () => {
  expect(find('listing')?.curl).toBe(`curl -s '${baseUrl}/api/v1/listings/x402.weather'`)
  expect(find('claim_start')?.curl).toContain(`-d '{"listing_id":"x402.weather"}'`)
  for (const { curl } of endpoints) expect(curl).not.toContain('{base_url}')
})

test('a document of another shape is refused, not half printed', () => {
  expect(() => toApiReference({ openapi: '3.1.0' }, { baseUrl, exampleId: 'x' })).toThrow()
})

test('reads can be run from the page; nothing that writes, calls a seller, counts a click or needs a session', () => {
  const runs = endpoints.flatMap((endpoint) => {
    const run = toApiRun(endpoint, { q: 'web search' })
    return run === null ? [] : [{ ...run, id: endpoint.id, methods: endpoint.methods }]
  })
  for (const { methods } of runs) expect(methods).toContain('GET')
  const ids = runs.map(({ id }) => id)
  expect(ids).toEqual(expect.arrayContaining(['search', 'listing', 'kit', 'stats', 'compare']))
  for (const id of ['go', 'me', 'analytics', 'claims', 'sponsored']) expect(ids).not.toContain(id)
  const search = runs.find(({ id }) => id === 'search')
  expect(search?.inputs.find(({ name }) => name === 'q')?.example).toBe('web search')
  expect(runs.find(({ id }) => id === 'call')).toMatchObject({
    path: '/api/v1/call/{listing_id}?relay_info=1',
    inputs: [{ name: 'listing_id' }],
  })
})

test('what is typed into a trial stays where it belongs in the address', () => {
  const inputs = [
    { name: 'listing_id', place: 'path', value: '../../sellers/me?x=' },
    { name: 'q', place: 'query', value: 'a&b=c#d' },
    { name: 'kind', place: 'query', value: '' },
  ]
  expect(toRunPath('/api/v1/listings/{listing_id}', inputs)).toBe(
    '/api/v1/listings/..%2F..%2Fsellers%2Fme%3Fx%3D?q=a%26b%3Dc%23d',
  )
})
