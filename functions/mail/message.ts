import type { SendMailOptions, Transporter } from 'nodemailer'
import type { Mail } from '../ports/mailer.ts'

/** `MAIL_FROM`, or an address on our own host. */
export function senderOf(config: { MAIL_FROM?: string | undefined; BASE_URL: string }): string {
  return config.MAIL_FROM ?? `directory@${new URL(config.BASE_URL).hostname}`
}

/**
 * Addresses go in as objects and the envelope is given, so that no address parser can find a second
 * recipient in one; files and URLs stay closed to the message.
 */
export function toMessage(from: string, { to, sender, subject, text }: Mail): SendMailOptions {
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

/** RFC 5322 §2.1.1: characters of a line. */
const LONGEST_LINE = 998

/**
 * Plain ASCII goes out as it is written. nodemailer would encode it for one line of more than 76
 * characters, and a reader of the file would see the link cut in two.
 */
export function keepLinesWhole(transport: Transporter): void {
  transport.use('stream', ({ data, message }, done) => {
    const lines = String(data.text).split('\n')
    const isPlain = lines.every(
      (line) => line.length <= LONGEST_LINE && /^[\t\x20-\x7e]*$/.test(line),
    )
    if (isPlain) message.getTransferEncoding = () => '7bit'
    done()
  })
}
