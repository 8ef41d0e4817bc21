import { join } from 'node:path'
import type { Config } from '../ports/config.ts'
import type { Mailer } from '../ports/mailer.ts'
import { senderOf } from './message.ts'
import { createOutboxMailer } from './outbox-mailer.ts'
import { createSmtpMailer } from './smtp-mailer.ts'

/** The mailer the environment asks for. */
export function openMailer(
  config: Pick<Config, 'SMTP_URL' | 'MAIL_FROM' | 'STATE_DIR' | 'BASE_URL'>,
): Mailer {
  const from = senderOf(config)
  return config.SMTP_URL === undefined
    ? createOutboxMailer(join(config.STATE_DIR, 'outbox'), from, (line) => console.log(line))
    : createSmtpMailer(config.SMTP_URL, from)
}
