import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { describeStores } from '../support/stores.ts'
import { ALL_LIMITS_OFF, openWorld, type World } from '../support/world.ts'

describeStores('mails on their way', ({ newPlace }) => {
  let world: World | undefined
  let server: MailServer | undefined
  afterEach(async () => {
    await world?.close()
    await server?.close()
    world = undefined
    server = undefined
  })

  const open = async (env: Record<string, string>) => {
    const { config } = await newPlace()
    world = await openWorld({
      env: { ...config, RATE_LIMITS: ALL_LIMITS_OFF, ...env },
      realMailer: true,
    })
    return { world, stateDir: config.STATE_DIR }
  }
  const login = async (at: World, email: string) => {
    const answer = await fetch(`${at.url}/api/v1/sellers/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email }),
    })
    return answer.status
  }
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
    server = await startMailServer()
    const opened = await open({ SMTP_URL: server.url, MAIL_FROM: 'hello@waypost.example' })
    await login(opened.world, 'ann@shop.example')
    await vi.waitFor(() => expect(server?.received).toHaveLength(1), 30_000)
    const [mail] = server.received
    expect(mail?.from).toBe('hello@waypost.example')
    expect(mail?.to).toEqual(['ann@shop.example'])
    expect(mail?.text).toMatch(/^Auto-Submitted: auto-generated\r$/m)
    expect(mail?.text).toMatch(/^Content-Type: text\/plain/m)
    expect((await redeem(opened.world, tokenIn(mail?.text ?? ''))).status).toBe(200)
  })

  test('without SMTP the mail is a file and the link is on the terminal, not in the log', async () => {
    const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
    const { world: at, stateDir } = await open({})
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
    server = await startMailServer()
    const { url } = server
    const { port } = new URL(url)
    await server.close()
    const { world: at } = await open({ SMTP_URL: url })
    expect(await login(at, 'ann@shop.example')).toBe(200)
    await at.parts.ledger.deliveries.deliver()
    expect(at.logLines.join('')).toContain('mail.not_sent')
    server = await startMailServer(Number(port))
    server.mood = 'holding'
    at.clock.move(60_000)
    let isDelivered = false
    const delivered = at.parts.ledger.deliveries.deliver().then(() => {
      isDelivered = true
    })
    // The server lets go of no mail before the visitor has an answer: waiting for it would never end.
    expect(await login(at, 'bob@shop.example')).toBe(200)
    expect(isDelivered).toBe(false)
    server.letGo()
    await delivered
    const to = server.received.flatMap((mail) => mail.to).sort()
    expect(to).toEqual(['ann@shop.example', 'bob@shop.example'])
  })

  test('a mailbox that does not exist is not tried again, and its address is in no log', async () => {
    server = await startMailServer()
    server.mood = 'refusing'
    const { world: at } = await open({ SMTP_URL: server.url })
    await login(at, 'nobody@shop.example')
    await at.parts.ledger.deliveries.deliver()
    const jobs = await at.parts.ledger.store.db.selectFrom('delivery').selectAll().execute()
    expect(jobs).toEqual([])
    expect(at.logLines.join('')).toContain('DeliveryRefused')
    expect(at.logLines.join('')).not.toContain('shop.example')
  })

  test('a server that fails for now gets the mail later, once', async () => {
    server = await startMailServer()
    server.mood = 'failing'
    const { world: at } = await open({ SMTP_URL: server.url })
    await login(at, 'ann@shop.example')
    await at.parts.ledger.deliveries.deliver()
    server.mood = 'well'
    at.clock.move(10_000)
    await Promise.all([at.parts.ledger.deliveries.deliver(), at.parts.ledger.deliveries.deliver()])
    expect(server.received).toHaveLength(1)
  })

  test('a sign-in mail nobody could send for an hour is dropped: its link would be of no use', async () => {
    server = await startMailServer()
    server.mood = 'failing'
    const { world: at } = await open({ SMTP_URL: server.url })
    await login(at, 'ann@shop.example')
    await at.parts.ledger.deliveries.deliver()
    server.mood = 'well'
    at.clock.move(3_700_000)
    await at.parts.ledger.deliveries.deliver()
    expect(server.received).toEqual([])
  })
})
