import { randomBytes } from 'node:crypto'
import { chmod, mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport, type Transporter } from 'nodemailer'
import type { Config } from '../ports/config.ts'

/** One plain-text mail to one address that was already checked. */
export interface Mail {
  to: string
  /** Name of the directory, shown as the sender. */
  sender: string
  subject: string
  text: string
  /** The link of a sign-in mail: shown on the terminal where no SMTP server is configured. */
  link?: string
}

/** Passes mails to an SMTP server, or into a folder on a machine without one. */
export interface Mailer {
  /** Resolves once the mail is accepted. @throws MailRefused when trying again is pointless */
  send(mail: Mail): Promise<void>
  close(): void
}

/** A permanent refusal (SMTP 5xx): the address does not exist or wants no mail. */
export class MailRefused extends Error {
  override name = 'MailRefused'
}

/** How long a slow server may hold a queue worker (milliseconds). */
const CONNECT_TIMEOUT_MS = 10_000
const ANSWER_TIMEOUT_MS = 20_000
const CONNECTIONS = 20

export function openMailer(
  config: Pick<Config, 'SMTP_URL' | 'MAIL_FROM' | 'STATE_DIR' | 'BASE_URL'>,
): Mailer {
  const from = config.MAIL_FROM ?? `directory@${new URL(config.BASE_URL).hostname}`
  return config.SMTP_URL === undefined
    ? createOutboxMailer(join(config.STATE_DIR, 'outbox'), from, (line) => console.log(line))
    : createSmtpMailer(config.SMTP_URL, from)
}

/**
 * For a machine without SMTP: each mail becomes `<folder>/<time>-<random>.eml`, and a sign-in link
 * is also printed, on the terminal and never in the structured log.
 */
export function createOutboxMailer(
  folder: string,
  from: string,
  print: (line: string) => void,
): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true })
  keepLinesWhole(transport)
  return {
    send: async (mail) => {
      const { message } = await transport.sendMail(toMessage(from, mail))
      if (!Buffer.isBuffer(message))
        throw new TypeError('expected nodemailer to buffer the message')
      // `mkdir` does not apply its mode to an existing folder.
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await chmod(folder, 0o700)
      const name = `${Date.now()}-${randomBytes(4).toString('hex')}`
      // A reader of the folder sees a finished `.eml` or none.
      const path = join(folder, name)
      await writeFile(`${path}.part`, message, { flag: 'wx', mode: 0o600, flush: true })
      await rename(`${path}.part`, `${path}.eml`)
      if (mail.link !== undefined) print(`Sign-in link for ${mail.to}: ${mail.link}`)
    },
    close: () => transport.close(),
  }
}

/** @param url `smtp(s)://user:password@host:port` */
function createSmtpMailer(url: string, from: string): Mailer {
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
        const isOfServer = error instanceof Error && 'responseCode' in error
        const code = isOfServer ? Number(error.responseCode) : 0
        const isRefusal = code >= 550 && code < 560
        throw isRefusal ? new MailRefused('the mail server refused the mail for good') : error
      }
    },
    close: () => transport.close(),
  }
}

/**
 * Addresses are passed as objects with an explicit envelope, so that no address parser can find a
 * second recipient in one; a message may not read files or URLs.
 */
function toMessage(from: string, { to, sender, subject, text }: Mail) {
  return {
    from: { name: sender, address: from },
    to: { name: '', address: to },
    envelope: { from, to: [to] },
    subject,
    text,
    // RFC 3834: no out-of-office answers, please.
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** RFC 5322 §2.1.1: characters per line. */
const LONGEST_LINE = 998

/**
 * Plain ASCII is sent as written. nodemailer would encode it if one line had more than 76
 * characters, and a reader of the file would see the link cut in two.
 */
function keepLinesWhole(transport: Transporter): void {
  transport.use('stream', ({ data, message }, done) => {
    const lines = String(data.text).split('\n')
    const isPlain = lines.every(
      (line) => line.length <= LONGEST_LINE && /^[\t\x20-\x7e]*$/.test(line),
    )
    if (isPlain) message.getTransferEncoding = () => '7bit'
    done()
  })
}
