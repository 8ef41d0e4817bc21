import { expect, vi } from 'vitest'
import type { World } from './world.ts'

/** A client of the seller endpoints that keeps its session, as a browser or a cookie jar would. */
export interface Visitor {
  get(path: string, headers?: Record<string, string>): Promise<Response>
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>
  send(method: string, path: string, init?: RequestInit): Promise<Response>
  /** @returns the `Set-Cookie` line of the session */
  signIn(email: string): Promise<string>
}

export function createVisitor(world: World, url = world.url): Visitor {
  let cookie = ''
  const send: Visitor['send'] = async (method, path, init = {}) => {
    const headers = { ...(cookie !== '' && { Cookie: cookie }), ...init.headers }
    const answer = await fetch(`${url}/api/v1/sellers${path}`, {
      method,
      redirect: 'manual',
      ...init,
      headers,
    })
    const given = sessionLine(answer)
    if (given !== undefined) cookie = given.split(';')[0] ?? ''
    return answer
  }
  const post: Visitor['post'] = (path, body, headers = {}) =>
    send('POST', path, {
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', ...headers },
    })
  return {
    send,
    post,
    get: (path, headers = {}) => send('GET', path, { headers }),
    signIn: async (email) => {
      const before = linksTo(world, email).length
      await post('/login', { email })
      const token = await tokenOf(world, email, before + 1)
      const answer = await post('/session', { token })
      expect(answer.status).toBe(200)
      return sessionLine(answer) ?? ''
    },
  }
}

function sessionLine({ headers }: Response): string | undefined {
  return headers.getSetCookie().find((line) => /^(__Host-)?session=/.test(line))
}

/** The token of the newest link mailed to the address, once at least `count` such mails are out. */
export async function tokenOf(world: World, email: string, count = 1): Promise<string> {
  const links = await vi.waitFor(() => {
    const sent = linksTo(world, email)
    expect(sent.length).toBeGreaterThanOrEqual(count)
    return sent
  }, 30_000)
  return new URL(links.at(-1) ?? 'about:blank').searchParams.get('token') ?? ''
}

function linksTo(world: World, email: string): (string | undefined)[] {
  return world.mails
    .filter(({ to, link }) => to === email && link !== undefined)
    .map(({ link }) => link)
}
