import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningService, startService } from '../support/running-service.ts'

const GONE = 'x402.former-tides'

let service: RunningService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

describe('a listing that is gone', () => {
  test.each([
    [`/api/v1/listings/${GONE}`],
    [`/api/v1/listings/${GONE}/kit.json`],
    [`/api/v1/call/${GONE}`],
    [`/go/${GONE}`],
    [`/badge/${GONE}.svg`],
    [`/listing/${GONE}`],
  ])('answers 410 at %s and says why', async (path) => {
    const answer = await fetch(service.url + path, { redirect: 'manual' })
    expect(answer.status).toBe(410)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(await answer.json()).toMatchObject({
      code: 'listing-gone',
      id: GONE,
      reason: 'duplicate',
      replaced_by: 'x402.harbour-tides',
      at: '2026-10-01T00:00:00Z',
    })
  })

  test.each([[`/listing/${GONE}`], [`/gone/${GONE}`]])(
    'is a page for a browser at %s, with 410 too',
    async (path) => {
      const answer = await fetch(service.url + path, { headers: { accept: 'text/html' } })
      expect(answer.status).toBe(410)
      const html = await answer.text()
      expect(html).toContain('It is the same service as another listing.')
      expect(html).toContain('/listing/x402.harbour-tides')
      expect(html).toContain('noindex')
    },
  )

  test('an id that never was is still 404', async () => {
    const answer = await fetch(`${service.url}/api/v1/listings/x402.never-was`)
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ code: 'listing-not-found' })
  })
})
