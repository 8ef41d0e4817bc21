import type { H3 } from 'h3'
import type { Parts } from '../parts/parts.ts'

const PATH = '/.well-known/security.txt'
/** RFC 9116 §2.5.5: less than a year ahead; a cached copy must stay true while it is kept. */
const VALID_MS = 90 * 86_400_000
const DAY_MS = 86_400_000

/**
 * `GET /.well-known/security.txt` (RFC 9116): whom to tell of a hole. The operator's own address is
 * in the environment, so no release can hold it; without one it is RFC 2142's mailbox of the host.
 */
export function mountSecurityText(app: H3, { config, clock }: Pick<Parts, 'config' | 'clock'>) {
  const contact = config.MAIL_FROM ?? `security@${new URL(config.BASE_URL).hostname}`
  const answer = () => {
    const end = Math.floor((clock.now() + VALID_MS) / DAY_MS) * DAY_MS
    const lines = [
      `Contact: mailto:${encodeURI(contact)}`,
      `Expires: ${new Date(end).toISOString()}`,
      'Preferred-Languages: en',
      `Canonical: ${config.BASE_URL}${PATH}`,
    ]
    return new Response(`${lines.join('\n')}\n`, {
      headers: {
        'Content-Type': 'text/plain; charset=utf-8',
        'Cache-Control': 'public, max-age=86400',
        'X-Content-Type-Options': 'nosniff',
      },
    })
  }
  app.get(PATH, answer)
  app.on('HEAD', PATH, answer)
}
