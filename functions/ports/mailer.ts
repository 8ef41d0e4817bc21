/** One plain-text mail to one address that has been judged already. */
export interface Mail {
  to: string
  /** Name of the directory: the sender's. */
  sender: string
  subject: string
  text: string
  /** The link of a sign-in mail: shown on the terminal where no SMTP server is configured. */
  link?: string
  /** A POST to it ends such mails at once (RFC 8058). */
  unsubscribe?: string
}

/** What one mail says, without greeting and signature. */
export type Letter = Pick<Mail, 'subject' | 'link' | 'unsubscribe'> & { body: string }

/** Hands mails over: to an SMTP server, or into a folder on a machine that has none. */
export interface Mailer {
  /** Resolves once the mail is accepted. @throws DeliveryRefused when trying again is pointless */
  send(mail: Mail): Promise<void>
  close(): void
}

/** The other side said no for good (SMTP 5xx, HTTP 410): the address does not exist, or wants nothing from us. */
export class DeliveryRefused extends Error {
  override name = 'DeliveryRefused'
}
