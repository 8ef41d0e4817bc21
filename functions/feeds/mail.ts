import { randomBytes, randomUUID } from 'node:crypto'
import { chmod, mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { createTransport, type Transporter } from 'nodemailer'
import { parseJson } from '../../src/domain/wire/json.ts'
import { codeOf } from '../../src/domain/wire/problems.ts'
import { HOUR_MS } from '../../src/domain/wire/shapes.ts'
import { RETENTION } from '../../src/domain/wire/vocabulary.ts'
import type { MailQueue, MailTask } from '../features/feature.ts'
import type { Clock } from '../ports/clock.ts'
import type { Config } from '../ports/config.ts'
import type { Log } from '../ports/log.ts'
import { countRows, createLoop, type Store, type Tables } from '../store/store.ts'

type MailTable = Tables['mail']

const KEPT_MS = RETENTION.mail_hours * HOUR_MS
/** How many emails are sent concurrently. */
const AT_ONCE = 20
/** How long emails stay blocked if a server dies while sending them: longer than the mail server may take. */
const LEASE_MS = 5 * 60_000
const FIRST_RETRY_MS = 5_000
const LAST_RETRY_MS = 10 * 60_000
/** Maximum number of waiting sign-in emails: anybody can trigger them, and a longer queue would be sent too late. */
const MAX_WAITING_SIGN_INS = 5_000
const CLOSE_PATIENCE_MS = 3_000

type SendMail = (address: string, task: MailTask) => Promise<boolean>

/**
 * Emails wait in the ledger until the mail server accepts them: no request waits for the mail
 * server, and no email is lost by a crash or by hours without a mail server. Each email is retried
 * for a day.
 *
 * Known limit: an email is sent again if its acceptance was not recorded. If two sign-in emails are
 * sent, only the newer link works.
 * @param send resolves true once the email is accepted, false if this version does not know the
 *   task: a newer version on another server queued the email, and may send it. @throws MailRefused
 */
export function createMailQueue(
  { store, clock, log }: { store: Store; clock: Clock; log: Log },
  send: SendMail,
): MailQueue & { close(): Promise<void> } {
  const { db, dialect } = store
  // With SQLite a single server uses the state, so any other server that was sending an email is dead.
  const freed =
    dialect === 'sqlite' ? db.updateTable('mail').set({ next_at: 0 }).execute() : Promise.resolve()
  freed.catch(() => {})
  const loop = createLoop(async () => {
    await freed
    for (;;) {
      const mails = await takeDue(db, clock.now())
      if (mails.length === 0) return
      await Promise.all(mails.map((mail) => sendMail({ db, clock, log }, send, mail)))
    }
  })
  const sendSoon = () => {
    loop.run().catch((error) => log.error('mail.queue_unreadable', { reason: String(error) }))
  }
  return {
    /** If a sign-in email to this address is already waiting, that email is tried at once instead of adding another. */
    async add(trx: Kysely<Tables>, address: string, task: MailTask): Promise<void> {
      const { kind, ...payload } = task
      const now = clock.now()
      const id = kind === 'sign_in' ? `sign_in ${address}` : randomUUID()
      await trx
        .insertInto('mail')
        .values({
          ...{ id, kind, address, payload: JSON.stringify(payload) },
          ...{ created_at: now, next_at: now, tries: 0 },
        })
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet({ created_at: now, next_at: now }),
        )
        .execute()
    },
    async isFull(): Promise<boolean> {
      const waiting = db
        .selectFrom('mail')
        .where('kind', '=', 'sign_in')
        .where('created_at', '>', clock.now() - KEPT_MS)
      return (await countRows(waiting)) >= MAX_WAITING_SIGN_INS
    },
    send: loop.run,
    sendSoon,
    async close(): Promise<void> {
      // A mail server that hangs must not delay a stop: the emails are kept, and sent later.
      await Promise.race([
        Promise.allSettled([freed, loop.idle()]),
        sleep(CLOSE_PATIENCE_MS, null, { ref: false }),
      ])
    },
  }
}

/**
 * Takes emails by moving the time of their next try. Whether an email is due is judged again under
 * the row's lock, so two servers never take the same email.
 */
async function takeDue(db: Kysely<Tables>, now: number): Promise<MailTable[]> {
  return db
    .updateTable('mail')
    .set({ next_at: now + LEASE_MS })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('mail as due')
        .select('due.id')
        .where('due.next_at', '<=', now)
        .where('due.created_at', '>', now - KEPT_MS)
        .orderBy('due.next_at')
        .limit(AT_ONCE),
    )
    .where('next_at', '<=', now)
    .returningAll()
    .execute()
}

async function sendMail(
  { db, clock, log }: { db: Kysely<Tables>; clock: Clock; log: Log },
  send: SendMail,
  { id, kind, address, payload, created_at, tries }: MailTable,
): Promise<void> {
  // An email requested again while it is being sent is a separate email and waits for its own turn.
  const same = { id, created_at }
  const tryAgain = async () => {
    const wait = Math.min(FIRST_RETRY_MS * 3 ** tries, LAST_RETRY_MS)
    const next = { next_at: clock.now() + wait, tries: tries + 1 }
    await db
      .updateTable('mail')
      .set(next)
      .where((eb) => eb.and(same))
      .execute()
  }
  try {
    if (!(await send(address, { kind, ...Object(parseJson(payload)) }))) return tryAgain()
  } catch (error) {
    log.error('mail.not_sent', { kind, attempt: tries + 1, reason: reasonOf(error) })
    if (!(error instanceof MailRefused)) return tryAgain()
  }
  await db
    .deleteFrom('mail')
    .where((eb) => eb.and(same))
    .execute()
}

/** A mail server's text may quote the address, so only the error code is logged. */
function reasonOf(error: unknown): string {
  return codeOf(error) || (error instanceof Error ? error.name : 'unknown')
}

/** One plain-text email to one address that was already checked. */
export interface Mail {
  to: string
  /** Name of the directory, shown as the sender. */
  sender: string
  subject: string
  text: string
  /** The link in a sign-in email: shown on the terminal if no SMTP server is configured. */
  link?: string
}

/** Hands emails to an SMTP server, or writes them into a folder on a machine without one. */
export interface Mailer {
  /** Resolves once the email is accepted. @throws MailRefused if trying again is pointless */
  send(mail: Mail): Promise<void>
  close(): void
}

/** A permanent refusal (SMTP 5xx): the address does not exist or wants no email. */
class MailRefused extends Error {
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
 * For a machine without SMTP: each email becomes `<folder>/<time>-<random>.eml`, and a sign-in link
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
      // Whoever reads the folder sees a complete `.eml` file or none.
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
        throw isRefusal ? new MailRefused('the mail server refused the email permanently') : error
      }
    },
    close: () => transport.close(),
  }
}

/**
 * Addresses are passed as objects with an explicit envelope, so that no address parser can find a second
 * recipient in an address; a message may not read files or URLs.
 */
function toMessage(from: string, { to, sender, subject, text }: Mail) {
  return {
    from: { name: sender, address: from },
    to: { name: '', address: to },
    envelope: { from, to: [to] },
    subject,
    text,
    // RFC 3834: prevents out-of-office answers.
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** Most characters in a line (RFC 5322 §2.1.1). */
const LONGEST_LINE = 998

/**
 * Plain ASCII is sent as written. nodemailer would encode the text if a line had more than 76
 * characters, and whoever opened the file would see the link cut in two.
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
