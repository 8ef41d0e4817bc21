import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openStore } from '../../functions/store/open-store.ts'
import { type Balancer, startBalancer } from '../support/balancer.ts'
import { BARE_ENV } from '../support/fixture-env.ts'
import { longTest } from '../support/long.ts'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { sharePostgres } from '../support/postgres.ts'
import { type Site, startSite } from '../support/site.ts'
import { silentLog } from '../support/stores.ts'

const INSTANCE = fileURLToPath(new URL('../support/instance.ts', import.meta.url))

interface Instance {
  process: ChildProcess
  url: string
}

describe('two instances over one PostgreSQL, behind a balancer', () => {
  let database: string
  let balancer: Balancer
  let mail: MailServer
  let site: Site
  let one: Instance
  let two: Instance

  beforeAll(async () => {
    database = await (await sharePostgres()).createDatabase()
    balancer = await startBalancer()
    mail = await startMailServer()
    site = await startSite()
    // Both at once, on an empty database: the migrations must not collide.
    ;[one, two] = await Promise.all([startInstance(), startInstance()])
    balancer.targets = [one.url, two.url]
  })
  afterAll(async () => {
    one?.process.kill('SIGKILL')
    two?.process.kill('SIGKILL')
    await Promise.all([balancer?.close(), mail?.close(), site?.close()])
  })

  async function startInstance(): Promise<Instance> {
    const child = spawn(process.execPath, [INSTANCE], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...BARE_ENV,
        BASE_URL: balancer.url,
        DATABASE_URL: database,
        SMTP_URL: mail.url,
        UNSAFE_ALLOW_PRIVATE_TARGETS: 'true',
        TRUST_PROXY: '1',
        RATE_LIMITS: '{"go":"100/3600","check":"4/3600"}',
        LISTINGS: JSON.stringify({ 'x402.local': `${site.url}/`, 'x402.other': `${site.url}/o` }),
      },
    })
    const [line] = await once(child.stdout, 'data')
    return { process: child, url: String(line).trim() }
  }
  const send = (base: string, path: string, body?: unknown, cookie = '') =>
    fetch(`${base}/api/v1/sellers${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'Content-Type': 'application/json', Cookie: cookie },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const click = (base: string, client: string, query = '') =>
    fetch(`${base}/go/x402.other${query}`, {
      redirect: 'manual',
      headers: { 'X-Forwarded-For': client },
    })
  const storedSids = async () => {
    const store = await openStore({ STATE_DIR: '', DATABASE_URL: database }, silentLog)
    const rows = await store.db
      .selectFrom('click')
      .select('sid')
      .where('sid', 'is not', null)
      .execute()
    await store.close()
    return rows.flatMap(({ sid }) => sid ?? [])
  }
  const newestToken = async (email: string) =>
    vi.waitFor(() => {
      const found = mail.received.findLast(({ to }) => to.includes(email))
      const plain = (found?.text ?? '').replace(/=\r?\n/g, '').replaceAll('=3D', '=')
      const token = /sign-in\?token=([\w-]{43})/.exec(plain)?.[1]
      if (token === undefined) throw new Error(`no mail for ${email} yet`)
      return token
    }, 30_000)

  test('ask on one, redeem on the other; claim on one, check on the other', async () => {
    await send(one.url, '/login', { email: 'ann@shop.example' })
    const token = await newestToken('ann@shop.example')
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        send(n % 2 === 0 ? one.url : two.url, '/session', { token }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const started = answers.find(({ status }) => status === 200)
    const cookie = started?.headers.get('set-cookie')?.split(';')[0] ?? ''
    expect((await send(one.url, '/me', undefined, cookie)).status).toBe(200)
    expect((await send(two.url, '/me', undefined, cookie)).status).toBe(200)
    const claimed = await (
      await send(one.url, '/claim', { listing_id: 'x402.local' }, cookie)
    ).json()
    site.publish(claimed.token)
    const checked = await send(two.url, `/claim/${claimed.claim.id}/check`, {}, cookie)
    expect((await checked.json()).result.verified).toBe(true)
    const statuses: number[] = []
    for (let n = 0; n < 4; n += 1) {
      const base = n % 2 === 0 ? one.url : two.url
      statuses.push((await send(base, `/claim/${claimed.claim.id}/check`, {}, cookie)).status)
    }
    expect(statuses).toEqual([200, 200, 200, 429])
  })

  test('the mails an address gets are limited over both, and those that wait are one', async () => {
    const requested = await Promise.all(
      Array.from({ length: 8 }, () => send(balancer.url, '/login', { email: 'bob@shop.example' })),
    )
    const statuses = requested.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429])
    const sent = () => mail.received.filter(({ to }) => to.includes('bob@shop.example'))
    await vi.waitFor(() => expect(sent().length).toBeGreaterThan(0), 30_000)
    expect(sent().length).toBeLessThanOrEqual(5)
  })

  longTest(
    'a client that clicks fast is always redirected, and counted within one budget by both',
    async () => {
      const sent: string[] = []
      const statuses = new Set<number>()
      for (let round = 0; round < 20; round += 1) {
        const sids = Array.from({ length: 10 }, () => crypto.randomUUID())
        sent.push(...sids)
        const clicked = await Promise.all(
          sids.map((sid, n) => click(n % 2 === 0 ? one.url : two.url, '192.0.2.1', `?sid=${sid}`)),
        )
        for (const { status } of clicked) statuses.add(status)
      }
      const counted = (await storedSids()).filter((sid) => sent.includes(sid))
      expect([...statuses]).toEqual([302])
      // A store too slow to be asked leaves an instance to its own count; unshared, all 200 would count.
      expect(counted.length).toBeGreaterThanOrEqual(100)
      expect(counted.length).toBeLessThan(200)
    },
  )

  test('one is killed under load: every redirect received is there, once', async () => {
    const received: string[] = []
    let sent = 0
    let isOn = true
    const clients = Array.from({ length: 12 }, async () => {
      while (isOn) {
        const sid = crypto.randomUUID()
        sent += 1
        // One client each: none of them is anywhere near its limit.
        const address = `198.51.${sent >> 8}.${sent & 255}`
        const answer = await click(balancer.url, address, `?sid=${sid}`).catch(() => null)
        if (answer?.status === 302) received.push(sid)
      }
    })
    const more = async (count: number) => {
      const enough = received.length + count
      await expect.poll(() => received.length).toBeGreaterThanOrEqual(enough)
    }
    await more(200)
    two.process.kill('SIGKILL')
    await more(50)
    balancer.targets = [one.url]
    await more(200)
    isOn = false
    await Promise.all(clients)
    const stored = await storedSids()
    expect(received.filter((sid) => !stored.includes(sid))).toEqual([])
    expect(new Set(stored).size).toBe(stored.length)
  })

  test('the one that is left stops in order', async () => {
    one.process.kill('SIGTERM')
    const [code] = await once(one.process, 'exit')
    expect(code).toBe(0)
  })
})
