import type { IncomingMessage } from 'node:http'
import type { Refused } from '../../src/domain/wire/problems.ts'
import { Refusal, refuse } from '../http/answers.ts'
import { splitTarget } from '../server/node-answers.ts'
import type { Caller, LimitName } from '../server/rate-limits.ts'
import type { Parts } from './feature.ts'
import { isCrossSite, withStore } from './routes.ts'

const MAX_FORM_BYTES = 16 * 1024

/**
 * What a page shows, or why it was refused: in the words that programs get, with the name that its form
 * gives to a wrong field.
 *
 * @param labels of the fields; without them the sentence about all of them is shown
 */
export async function orRefused<T>(
  { log }: Pick<Parts, 'log'>,
  work: () => Promise<T>,
  labels?: Readonly<Record<string, string>>,
): Promise<T | Refused> {
  try {
    return await withStore(log, work)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { code, options } = error
    const { detail, errors: [wrong] = [], headers } = options
    const label = labels?.[wrong?.name ?? '']
    const named = label === undefined ? wrong?.detail : `${label}: ${wrong?.detail}`
    const reason = labels === undefined ? detail : (named ?? detail)
    return { kind: 'refused', code, reason, ...(headers !== undefined && { headers }) }
  }
}

/** Refuses what a form has in one field. */
export function refuseField(name: string, detail: string): never {
  return refuse('invalid-parameter', {
    detail: `${name}: ${detail}`,
    errors: [{ in: 'body', name, detail }],
  })
}

/** Counts one form of a client. */
export async function countForm(
  { limits }: { limits: Pick<Parts['limits'], 'take'> },
  name: LimitName,
  subject: string,
  { client }: Pick<Caller, 'client'>,
): Promise<void> {
  const { allowed, headers } = await limits.take(name, client)
  if (allowed) return
  const detail = `Too many ${subject} from here. Try again in ${headers['Retry-After']} s.`
  refuse('rate-limited', { detail, headers })
}

/** The fields that a form of this site sent, or those of the query where none was sent. */
export async function readSent(req: IncomingMessage, baseUrl: string): Promise<URLSearchParams> {
  if (req.method !== 'POST') return new URLSearchParams(splitTarget(req.url ?? '').query)
  if (isCrossSite((name) => req.headers[name]?.toString(), baseUrl))
    refuse('cross-site', { detail: 'Another site sent this form. Fill it in here.' })
  const bytes = await readForm(req)
  if (bytes === null) refuse('malformed-request', { detail: 'The form broke off before its end.' })
  if (!/^application\/x-www-form-urlencoded\b/i.test(req.headers['content-type'] ?? ''))
    refuse('unsupported-media-type', {
      detail: 'Send the form as application/x-www-form-urlencoded.',
    })
  if (bytes === 'too long') refuse('payload-too-large', { detail: 'The form is too long.' })
  return new URLSearchParams(bytes.toString('utf8'))
}

/** Null where it breaks off: whatever else is wrong, nothing can be said of a body that has no end. */
async function readForm(req: IncomingMessage): Promise<Buffer | 'too long' | null> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of req) {
      size += chunk.length
      // An overlong body is read and dropped: the answer goes over the same connection.
      if (size <= MAX_FORM_BYTES) chunks.push(chunk)
    }
  } catch {
    return null
  }
  return size > MAX_FORM_BYTES ? 'too long' : Buffer.concat(chunks)
}
