/** One plain-text mail to one address that was already checked. */
export interface Mail {
  to: string
  /** Name of the directory, shown as the sender. */
  sender: string
  subject: string
  text: string
  /** The link of a sign-in mail: shown on the terminal where no SMTP server is configured. */
  link?: string
  /** A POST to it ends such mails at once (RFC 8058). */
  unsubscribe?: string
}

/** Text of one mail, without greeting and signature. */
export type Letter = Pick<Mail, 'subject' | 'link' | 'unsubscribe'> & { body: string }

/** Delivers mails to an SMTP server, or into a folder on a machine without one. */
export interface Mailer {
  /** Resolves once the mail is accepted. @throws DeliveryRefused when trying again is pointless */
  send(mail: Mail): Promise<void>
  close(): void
}

/** A permanent refusal (SMTP 5xx, HTTP 410): the address does not exist or wants no mail. */
export class DeliveryRefused extends Error {
  override name = 'DeliveryRefused'
}
