import { createTransport } from 'nodemailer'
import { type Mailer, MailRefused } from '../ports/mailer.ts'
import { keepLinesWhole, toMessage } from './message.ts'

/** A slow server costs a queue worker this long at most (milliseconds). */
const CONNECT_TIMEOUT_MS = 10_000
const ANSWER_TIMEOUT_MS = 20_000
const CONNECTIONS = 3

/** @param url `smtp(s)://user:password@host:port` */
export function createSmtpMailer(url: string, from: string): Mailer {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: CONNECTIONS,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: ANSWER_TIMEOUT_MS,
  })
  keepLinesWhole(transport)
  return {
    send: async (mail) => {
      try {
        await transport.sendMail(toMessage(from, mail))
      } catch (error) {
        if (isRefusal(error)) throw new MailRefused('the mail server refused the mail for good')
        throw error
      }
    },
    close: () => transport.close(),
  }
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error) || !('responseCode' in error)) return false
  const code = Number(error.responseCode)
  return code >= 550 && code < 560
}
