import { once } from 'node:events'
import { text as readText } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ANONYMOUS_PROBES } from '../../functions/net/guard.ts'
import { lintUrl } from '../../functions/probes/lint.ts'
import { startService } from '../support/running-service.ts'
import { aCaller, createTestRuns, openSite, type Site } from './probe-world.ts'

/** A host that never answers; `asked` resolves with each request it gets. */
async function startSilent(): Promise<Site & { requested: () => Promise<() => Promise<unknown>> }> {
  const requests: { closed: Promise<unknown> }[] = []
  const waiting: (() => void)[] = []
  const site = await openSite((req) => {
    requests.push({ closed: once(req.socket, 'close') })
    waiting.shift()?.()
  })
  return {
    ...site,
    async requested() {
      if (requests.length === 0) await new Promise<void>((resolve) => waiting.push(resolve))
      const next = requests.shift()
      return async () => next?.closed
    },
  }
}

describe('what strangers make us ask', () => {
  test('is one run a client and one a host at a time, and a few for an IPv6 /48', async () => {
    const runs = createTestRuns()
    const end = Promise.withResolvers<'ran'>()
    const start = (url: string, client: string) => runs.run(url, aCaller(client), () => end.promise)
    const first = start('https://a.example/x', '198.51.100.1')
    await expect(start('https://b.example/', '198.51.100.1')).rejects.toMatchObject({
      code: 'rate-limited',
      options: {
        detail: expect.stringContaining('check of yours is running'),
        headers: { 'Retry-After': '10' },
      },
    })
    await expect(start('https://a.example./y', '198.51.100.2')).rejects.toMatchObject({
      options: { detail: expect.stringContaining('This host') },
    })
    const others = [1, 2].map((n) => start(`https://v6-${n}.example/`, `20010db80001000${n}::/64`))
    await expect(start('https://v6-3.example/', '20010db800010003::/64')).rejects.toMatchObject({
      options: { detail: expect.stringContaining('your network') },
    })
    end.resolve('ran')
    expect(await Promise.all([first, ...others])).toEqual(['ran', 'ran', 'ran'])
    expect(await start('https://a.example/', '198.51.100.1')).toBe('ran')
  })

  test('sends a small number of requests, whatever the host answers', async () => {
    let requested = 0
    const site = await openSite(async (req, res) => {
      requested += 1
      const { id, method } = JSON.parse((await readText(req)) || '{}')
      const result =
        method === 'server/discover'
          ? { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, serverInfo: {} }
          : {
              tools: [{ name: `t${requested}`, description: 'x', inputSchema: { type: 'object' } }],
              nextCursor: `c${requested}`,
            }
      res
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
    const report = await createTestRuns().run(site.url, aCaller('a'), (client) =>
      lintUrl(site.url, undefined, client, Date.now),
    )
    expect(requested).toBe(ANONYMOUS_PROBES.requests)
    // A list that is too long for it is still a list.
    expect(report).toMatchObject({ took_for: 'mcp' })
  })

  test('ends when the caller leaves, and the next one may ask at once', async () => {
    const silent = await startSilent()
    const runs = createTestRuns()
    const left = new AbortController()
    const ask = (signal: AbortSignal) =>
      runs.run(silent.url, aCaller('a', signal), (client) =>
        lintUrl(silent.url, undefined, client, Date.now),
      )
    const first = ask(left.signal)
    const isClosed = await silent.requested()
    left.abort()
    expect(await first).toMatchObject({ verdict: 'not_reached', asked: [{ method: 'POST' }] })
    await isClosed()
    const again = new AbortController()
    const second = ask(again.signal)
    await silent.requested()
    again.abort()
    expect(await second).toMatchObject({ verdict: 'not_reached' })
  })
})

describe('the service', () => {
  test.each(['/api/v1/lint?url=', '/sellers/check?url='])(
    'lets go of a check when whoever asked %s hangs up',
    async (path) => {
      const waypost = await startService({ UNSAFE_ALLOW_PRIVATE_TARGETS: 'true' })
      onTestFinished(waypost.close)
      const silent = await startSilent()
      for (let n = 0; n < 3; n += 1) {
        const caller = new AbortController()
        const requested = fetch(waypost.url + path + encodeURIComponent(silent.url), {
          signal: caller.signal,
        }).catch(() => 'left')
        const isClosed = await silent.requested()
        const busy = await fetch(waypost.url + path + encodeURIComponent('http://127.0.0.1:1/'))
        expect(busy.status).toBe(429)
        expect(busy.headers.get('retry-after')).toBe('10')
        caller.abort()
        expect(await requested).toBe('left')
        await isClosed()
      }
    },
  )

  test('is not asked about itself, by name or by address', async () => {
    const waypost = await startService({ UNSAFE_ALLOW_PRIVATE_TARGETS: 'true' })
    onTestFinished(waypost.close)
    const lint = async (url: string) =>
      (await fetch(`${waypost.url}/api/v1/lint?url=${encodeURIComponent(url)}`)).json()
    expect(await lint('https://waypost.example/mcp')).toMatchObject({
      code: 'invalid-parameter',
      detail: expect.stringContaining('this host is ours'),
    })
    expect(await lint(`${waypost.url}/mcp`)).toMatchObject({
      verdict: 'not_reached',
      saw: expect.stringContaining('this service itself'),
    })
  })
})
