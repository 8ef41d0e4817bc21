import { expect, test } from 'vitest'
import { createOpenApi } from '../../src/build/openapi/create-openapi.ts'
import { toApiReference } from '../../src/components/docs/api-reference.ts'
import { ROUTES } from '../../src/domain/wire/routes.ts'
import { SITE_TEXTS } from '../domain/site-samples.ts'

const baseUrl = 'https://waypost.example'
const reference = toApiReference(createOpenApi(baseUrl, SITE_TEXTS), {
  baseUrl,
  examples: { listing_id: 'x402.weather', slug: 'web-search', q: 'web search', relay_info: '1' },
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
})

test('a document of another shape is refused, not half printed', () => {
  expect(() => toApiReference({ openapi: '3.1.0' }, { baseUrl, examples: {} })).toThrow()
})

test('reads can be opened from the page; nothing that writes, calls a seller, counts a click or needs a session', () => {
  const runs = endpoints.filter(({ run }) => run !== null)
  for (const { methods } of runs) expect(methods).toContain('GET')
  const ids = runs.map(({ id }) => id)
  expect(ids).toEqual(expect.arrayContaining(['search', 'listing', 'kit', 'stats', 'compare']))
  for (const id of ['go', 'me', 'analytics', 'claims', 'sponsored']) expect(ids).not.toContain(id)
  expect(find('search')?.run).toBe('/api/v1/search?q=web+search')
  expect(find('call')?.run).toBe('/api/v1/call/x402.weather?relay_info=1')
})
