import type { Dispatcher } from 'undici'
import { expect } from 'vitest'

/** Our own error: a problem, marked as ours so that nobody takes it for the seller's. */
export async function problemOf(answer: Dispatcher.ResponseData) {
  expect(answer.headers['content-type']).toBe('application/problem+json')
  expect(answer.headers['proxy-status']).toMatch(/^directory-relay; error=[a-z_]+/)
  return (await answer.body.json()) as Record<string, unknown>
}
