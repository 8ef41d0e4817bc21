import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createMailQueue } from '../../functions/feeds/mail.ts'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { describeStores, silentLog } from '../support/stores.ts'
import { ALL_LIMITS_OFF, openWorld, type World } from '../support/world.ts'

describeStores('mails on their way', ({ newPlace, newStore }) => {
  const open = async (env: Record<string, string>) => {
    const { config } = await newPlace()
    const at = await openWorld({
      env: { ...config, RATE_LIMITS: ALL_LIMITS_OFF, ...env },
      realMailer: true,
    })
    onTestFinished(() => at.close())
    return { at, stateDir: config.STATE_DIR }
  }
  const startServer = async (port?: number) => {
    const server = await startMailServer(port)
    onTestFinished(() => server.close())
    return server
  }
  const openWith = async (mood: MailServer['mood']) => {
    const server = await startServer()
    server.mood = mood
    return { server, ...(await open({ SMTP_URL: server.url })) }
  }
  const login = async (at: World, email: string) => {
    const answer = await fetch(`${at.url}/api/v1/sellers/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email }),
    })
    return answer.status
  }
  const waiting = (at: World) => at.parts.ledger.store.db.selectFrom('mail').selectAll().execute()
  const redeem = (at: World, token: string) =>
    fetch(`${at.url}/api/v1/sellers/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ token }),
    })
  // As a person reads the file or the source of the mail: the link stands whole in its own line.
  const tokenIn = (text: string) =>
    /^http\S+\/sellers\/sign-in\?token=([\w-]{43})\r?$/m.exec(text)?.[1] ?? ''

  test('a sign-in mail goes over SMTP to one address, and its link signs in', async () => {
    const server = await startServer()
    const { at } = await open({ SMTP_URL: server.url, MAIL_FROM: 'hello@waypost.example' })
    await login(at, 'ann@shop.example')
    await vi.waitFor(() => expect(server.received).toHaveLength(1), 30_000)
    const [mail] = server.received
    expect(mail?.from).toBe('hello@waypost.example')
    expect(mail?.to).toEqual(['ann@shop.example'])
    expect(mail?.text).toMatch(/^Auto-Submitted: auto-generated\r$/m)
    expect(mail?.text).toMatch(/^Content-Type: text\/plain/m)
    expect((await redeem(at, tokenIn(mail?.text ?? ''))).status).toBe(200)
  })

  test('without SMTP the mail is a file and the link is on the terminal, not in the log', async () => {
    const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
    const { at, stateDir } = await open({})
    await login(at, 'ann@shop.example')
    const outbox = join(stateDir, 'outbox')
    const files = await vi.waitFor(async () => {
      const names = (await readdir(outbox)).filter((name) => name.endsWith('.eml'))
      expect(names).toHaveLength(1)
      return names
    }, 30_000)
    const token = tokenIn(await readFile(join(outbox, files[0] ?? ''), 'utf8'))
    await vi.waitFor(() => expect(printed.mock.calls.flat().join()).toContain(token), 30_000)
    printed.mockRestore()
    expect(at.logLines.join('')).not.toContain(token)
    expect((await redeem(at, token)).status).toBe(200)
  })

  test('a mail server that is down or slow costs the visitor nothing, and no mail is lost', async () => {
    const { url, close } = await startMailServer()
    await close()
    const { at } = await open({ SMTP_URL: url })
    expect(await login(at, 'ann@shop.example')).toBe(200)
    await at.parts.ledger.mails.send()
    expect(at.logLines.join('')).toContain('mail.not_sent')
    const server = await startServer(Number(new URL(url).port))
    server.mood = 'holding'
    at.clock.move(60_000)
    let isDelivered = false
    const delivered = at.parts.ledger.mails.send().then(() => {
      isDelivered = true
    })
    // The server lets go of no mail before the visitor has an answer: waiting for it would never end.
    expect(await login(at, 'bob@shop.example')).toBe(200)
    expect(isDelivered).toBe(false)
    server.release()
    await delivered
    const to = server.received.flatMap((mail) => mail.to).sort()
    expect(to).toEqual(['ann@shop.example', 'bob@shop.example'])
  })

  test('a mailbox that does not exist is not tried again, and its address is in no log', async () => {
    const { at } = await openWith('refusing')
    await login(at, 'nobody@shop.example')
    await at.parts.ledger.mails.send()
    expect(await waiting(at)).toEqual([])
    expect(at.logLines.join('')).toContain('MailRefused')
    expect(at.logLines.join('')).not.toContain('shop.example')
  })

  test('a server that fails for now gets the mail later, once', async () => {
    const { at, server } = await openWith('failing')
    await login(at, 'ann@shop.example')
    await at.parts.ledger.mails.send()
    server.mood = 'well'
    at.clock.move(10_000)
    await Promise.all([at.parts.ledger.mails.send(), at.parts.ledger.mails.send()])
    expect(server.received).toHaveLength(1)
    expect(await waiting(at)).toEqual([])
  })

  test('a mail is tried again for a day, every ten minutes at least, and then no more', async () => {
    const { at, server } = await openWith('failing')
    await login(at, 'ann@shop.example')
    await at.parts.ledger.mails.send()
    at.clock.move(23 * 3_600_000)
    await at.parts.ledger.mails.send()
    expect(await waiting(at)).toMatchObject([{ address: 'ann@shop.example', tries: 2 }])
    server.mood = 'well'
    at.clock.move(600_000)
    await login(at, 'bob@shop.example')
    await at.parts.ledger.mails.send()
    expect(server.received.flatMap(({ to }) => to).sort()).toEqual([
      'ann@shop.example',
      'bob@shop.example',
    ])
    server.mood = 'failing'
    await login(at, 'ann@shop.example')
    await at.parts.ledger.mails.send()
    server.mood = 'well'
    at.clock.move(24 * 3_600_000)
    await at.parts.ledger.mails.send()
    expect(server.received).toHaveLength(2)
  })

  test('one sign-in mail waits for an address, however often it is asked for', async () => {
    const { at, server } = await openWith('failing')
    for (let n = 0; n < 4; n += 1) expect(await login(at, 'ann@shop.example')).toBe(200)
    await at.parts.ledger.mails.send()
    expect(await waiting(at)).toHaveLength(1)
    server.mood = 'well'
    at.clock.move(10_000)
    await at.parts.ledger.mails.send()
    expect(server.received).toHaveLength(1)
    expect((await redeem(at, tokenIn(server.received[0]?.text ?? ''))).status).toBe(200)
  })

  test('with too many sign-in mails waiting nobody is promised another', async () => {
    const { at } = await open({})
    const { db } = at.parts.ledger.store
    const now = at.clock.now()
    const row = { kind: 'sign_in', payload: '{}', created_at: now, next_at: now + 60_000, tries: 1 }
    for (let n = 0; n < 5; n += 1)
      await db
        .insertInto('mail')
        .values(
          Array.from({ length: 1000 }, (_, m) => ({
            ...{ ...row, id: `${n} ${m}`, address: `a${n}-${m}@b.example` },
          })),
        )
        .execute()
    expect(await login(at, 'ann@shop.example')).toBe(503)
    // Mails about claims are nobody's to ask for: they wait beside them.
    await db.updateTable('mail').set({ kind: 'claim_verified' }).where('id', '=', '0 0').execute()
    expect(await login(at, 'ann@shop.example')).toBe(200)
  })

  test('a mail that a dead server was sending is sent by the next one', async () => {
    const store = await newStore()
    const clock = { at: 1_000_000, now: () => clock.at }
    const begun: string[] = []
    const dead = createMailQueue({ store, clock, log: silentLog }, (address) => {
      begun.push(address)
      return new Promise(() => {})
    })
    await dead.add(store.db, 'ann@shop.example', { kind: 'sign_in' })
    dead.sendSoon()
    await vi.waitFor(() => expect(begun).toHaveLength(1), 30_000)
    const sent: string[] = []
    const next = createMailQueue({ store, clock, log: silentLog }, async (address) => {
      sent.push(address)
      return true
    })
    await next.send()
    // One server has a SQLite file: what was being sent before it started is nobody's.
    expect(sent).toHaveLength(store.dialect === 'sqlite' ? 1 : 0)
    clock.at += 300_001
    await next.send()
    expect(sent).toEqual(['ann@shop.example'])
    await next.close()
  })
})
