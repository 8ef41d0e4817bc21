import type { Socket } from 'node:net'
import { expect } from 'vitest'
import type { RelayLimits } from '../../functions/relay/call-plan.ts'
import { aListing, exchangeRaw, type RawAnswer, startRawSeller, startRelay } from './relay-world.ts'

export const GET = 'GET /api/v1/call/x402.seller HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n'
export const PAID = GET.replace('\r\n\r\n', '\r\nX-PAYMENT: secret-marker-payment\r\n\r\n')

export interface Reported {
  answer: RawAnswer
  requests: string[]
  logged: string[]
}

/** One call to a scripted seller: what the caller got, what the seller saw, what was logged. */
export async function tell(
  script: (socket: Socket, received: string) => void,
  { request = GET, limits = {} }: { request?: string; limits?: Partial<RelayLimits> } = {},
): Promise<Reported> {
  await using seller = await startRawSeller(script)
  await using world = await startRelay({ listings: [aListing(seller.url)], limits })
  const answer = await exchangeRaw(world.port, request)
  return { answer, requests: seller.requests, logged: world.logged }
}

/** The answer is ours, and says so. */
export function isOwn({ answer }: Reported, status: number, code: string, error: string): void {
  expect(answer.status, answer.text.slice(0, 300)).toBe(status)
  expect(answer.body).toContain(`"code":"${code}"`)
  expect(answer.lines.join('\n').toLowerCase()).toContain(
    `proxy-status: directory-relay; error=${error}`,
  )
}
