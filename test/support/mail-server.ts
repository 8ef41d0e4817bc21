import { SMTPServer } from 'smtp-server'

/** A real SMTP server on loopback. */
export interface MailServer {
  /** `SMTP_URL`. */
  url: string
  received: ReceivedMail[]
  /** `holding` answers no mail before `letGo`, `refusing` says no for good, `failing` for now. */
  mood: 'well' | 'holding' | 'refusing' | 'failing'
  /** Accepts what was held, and is well again. */
  release(): void
  close(): Promise<void>
}

export interface ReceivedMail {
  from: string
  to: string[]
  text: string
}

export async function startMailServer(port = 0): Promise<MailServer> {
  const held: (() => void)[] = []
  const mailServer: MailServer = {
    url: '',
    received: [],
    mood: 'well',
    release: () => {
      mailServer.mood = 'well'
      for (const accept of held.splice(0)) accept()
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
  const server = new SMTPServer({
    authOptional: true,
    // Else a connection that a pool keeps is waited for.
    closeTimeout: 1,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo: (_address, _session, done) => {
      if (mailServer.mood === 'refusing') return done(reject(550, 'No such mailbox a@b.example'))
      if (mailServer.mood === 'failing') return done(reject(451, 'Try later'))
      done()
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        mailServer.received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString('utf8'),
        })
        if (mailServer.mood === 'holding') held.push(() => done())
        else done()
      })
    },
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const address = server.server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  mailServer.url = `smtp://127.0.0.1:${bound}`
  return mailServer
}

function reject(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode })
}
