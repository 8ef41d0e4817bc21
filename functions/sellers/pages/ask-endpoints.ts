import type { IncomingMessage } from 'node:http'
import { H3Event } from 'h3'
import type { Refused } from '../../../src/domain/wire/form-page.ts'
import type { ProblemCode } from '../../../src/domain/wire/problems.ts'
import { ROUTES, type StoreRouteId } from '../../../src/domain/wire/route-table.ts'
import type { SellerRoute } from '../sessions/seller-route.ts'

type Asked<Body> = { body: Body } | Refused

/** Headers for the caller and its site: a page's form has no more rights than its sender. */
const PASSED_ON = ['cookie', 'origin', 'sec-fetch-site', 'x-forwarded-for'] as const

export type SellerHandlers = Readonly<Partial<Record<StoreRouteId, SellerRoute>>>

/**
 * The seller endpoints, asked in this process for the page that `req` wants. Session, limits, other
 * sites and the store are checked where they always are: in the handler.
 */
export function createEndpoints(handlers: SellerHandlers, req: IncomingMessage, baseUrl: string) {
  const cookies: string[] = []
  const headers = new Headers({ 'content-type': 'application/json' })
  for (const name of PASSED_ON) {
    const value = req.headers[name]?.toString()
    if (value !== undefined) headers.set(name, value)
  }
  return {
    /** `Set-Cookie` values of all answers; the page carries them to the browser. */
    cookies,
    async ask<Body>(
      id: StoreRouteId,
      { send, params = {} }: { send?: object; params?: Record<string, string> } = {},
    ): Promise<Asked<Body>> {
      const handler = handlers[id]
      const { path, methods } = ROUTES[id]
      if (handler === undefined) throw new Error(`expected a handler of ${id}`)
      const request = new Request(new URL(path, baseUrl), {
        method: methods[0],
        headers,
        ...(send !== undefined && { body: JSON.stringify(send) }),
      })
      const ip = req.socket.remoteAddress
      const event = new H3Event(Object.assign(request, { ip }), { params })
      const answer = await handler(event)
      for (const cookie of answer.headers.getSetCookie()) cookies.push(cookie)
      const body = answer.status === 204 ? null : await answer.json()
      return answer.ok ? { body } : toRefused(body, answer)
    },
  }
}

export type Endpoints = ReturnType<typeof createEndpoints>

function toRefused(problem: { code: ProblemCode; detail: string }, { headers }: Response): Refused {
  const later = headers.get('retry-after')
  return {
    kind: 'refused',
    code: problem.code,
    reason: problem.detail,
    ...(later !== null && { headers: { 'Retry-After': later } }),
  }
}
