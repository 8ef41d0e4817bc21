import type { IncomingMessage, ServerResponse } from 'node:http'
import * as v from 'valibot'
import type { FormPage, Refused } from '../../src/domain/wire/problems.ts'
import { jsonAnswer, type MakeProblem } from '../http/answers.ts'
import { type ObjectSchema, parseBody } from '../http/parse-body.ts'
import { splitTarget } from '../server/node-answers.ts'
import { type Caller, type LimitName, toCaller, toPageCaller } from '../server/rate-limits.ts'
import { isStoreUnavailable, withPatience } from '../store/store.ts'
import type { Parts, StoreRoute } from './feature.ts'
import { createStoreRoute, isCrossSite } from './routes.ts'

const MAX_FORM_BYTES = 16 * 1024

/** The sender of a form; the cookie shows whether a seller is signed in. */
type Sender = Caller & { cookie: string | null }

/**
 * Something that anybody may send, as JSON or with a form that needs no JavaScript. Both share the
 * body, the limit, the cross-site rule and the outcome; only the rendering differs.
 */
export interface Form<Schema extends ObjectSchema, Sent, Answer extends { kind: string }> {
  schema: Schema
  /** What is sent, as a plural noun for sentences: `Disputes`. */
  subject: string
  labels?: Readonly<Record<string, string>>
  toSent(fields: URLSearchParams): Sent
  toBody(fields: URLSearchParams): Record<string, unknown>
  /** Accepts a submission; counts the limit itself, so that a typo costs nothing. */
  take(body: v.InferOutput<Schema>, caller: Sender): Promise<Answer | Refused>
}

/** The endpoint of a form. @param render the JSON of its outcome */
export function createFormRoute<S extends ObjectSchema, Sent, A extends { kind: string }>(
  parts: Parts,
  form: Form<S, Sent, A>,
  render: (answer: A) => { status: number; body: unknown },
): StoreRoute {
  return createStoreRoute(parts, async (event) => {
    const body = await parseBody(event.req, form.schema, parts.problem)
    if ('refusal' in body) return body.refusal
    const cookie = event.req.headers.get('cookie')
    const answer = await form.take(body.output, { ...toCaller(event, parts.config), cookie })
    if (isRefused(answer)) return toProblem(answer, parts.problem)
    const { status, body: shown } = render(answer)
    return jsonAnswer(shown, {}, status)
  })
}

/** The page of a form. @param show what a GET shows, from its query: the empty form when left out */
export function createFormPage<S extends ObjectSchema, Sent, A extends { kind: string }>(
  parts: Pick<Parts, 'config' | 'log'>,
  form: Form<S, Sent, A>,
  show: (query: URLSearchParams) => Promise<FormPage<A, Sent>> = async (query) => ({
    answer: { kind: 'empty' },
    sent: form.toSent(query),
  }),
): (req: IncomingMessage, res: ServerResponse) => Promise<FormPage<A, Sent>> {
  const blank = () => form.toSent(new URLSearchParams())
  return async (req, res) => {
    try {
      const fields = await readSent(req, parts.config.BASE_URL)
      if ('kind' in fields) return { answer: fields, sent: blank() }
      if (req.method !== 'POST') return await withPatience(() => show(fields))
      const cookie = req.headers.cookie ?? null
      const caller = { ...toPageCaller(req, res, parts.config), cookie }
      const answer = await withPatience(() => takeFields(form, fields, caller))
      return { answer, sent: form.toSent(fields) }
    } catch (error) {
      if (!isStoreUnavailable(error)) throw error
      parts.log.error('store.unavailable', { reason: String(error) })
      const reason = `${form.subject} cannot be stored right now. Try again in a few minutes.`
      return { answer: refuse('store-unavailable', reason), sent: blank() }
    }
  }
}

export function refuse(
  code: Refused['code'],
  reason: string,
  more: Pick<Refused, 'field' | 'headers'> = {},
): Refused {
  return { kind: 'refused', code, reason, ...more }
}

/** Counts one form of a client. @returns null where it may go on */
export async function countForm(
  { limits }: { limits: Pick<Parts['limits'], 'take'> },
  name: LimitName,
  subject: string,
  { client }: Caller,
): Promise<Refused | null> {
  const { allowed, headers } = await limits.take(name, client)
  if (allowed) return null
  const reason = `Too many ${subject} from here. Try again in ${headers['Retry-After']} s.`
  return refuse('rate-limited', reason, { headers })
}

/** The fields that a form of this site sent, or those of the query where none was sent. */
export async function readSent(
  req: IncomingMessage,
  baseUrl: string,
): Promise<URLSearchParams | Refused> {
  if (req.method !== 'POST') return new URLSearchParams(splitTarget(req.url ?? '').query)
  if (isCrossSite((name) => req.headers[name]?.toString(), baseUrl))
    return refuse('cross-site', 'Another site sent this form. Fill it in here.')
  const bytes = await readForm(req)
  if (bytes === null) return refuse('malformed-request', 'The form broke off before its end.')
  if (!/^application\/x-www-form-urlencoded\b/i.test(req.headers['content-type'] ?? ''))
    return refuse('unsupported-media-type', 'Send the form as application/x-www-form-urlencoded.')
  if (bytes === 'too long') return refuse('payload-too-large', 'The form is too long.')
  return new URLSearchParams(bytes.toString('utf8'))
}

async function takeFields<S extends ObjectSchema, A extends { kind: string }>(
  form: Pick<Form<S, unknown, A>, 'schema' | 'labels' | 'toBody' | 'take'>,
  fields: URLSearchParams,
  caller: Sender,
): Promise<A | Refused> {
  const parsed = v.safeParse(form.schema, form.toBody(fields))
  const answer = parsed.success
    ? await form.take(parsed.output, caller)
    : toRefused(parsed.issues[0])
  const label = isRefused(answer) ? form.labels?.[answer.field ?? ''] : undefined
  return isRefused(answer) && label !== undefined
    ? { ...answer, reason: `${label}: ${answer.reason}` }
    : answer
}

function toRefused(issue: v.BaseIssue<unknown>): Refused {
  const field = v.getDotPath(issue)?.split('.')[0]
  return refuse('invalid-parameter', `${issue.message}.`, field === undefined ? {} : { field })
}

function isRefused(answer: { kind: string } | Refused): answer is Refused {
  return answer.kind === 'refused'
}

export function toProblem({ code, reason, field, headers }: Refused, problem: MakeProblem) {
  return problem(code, {
    detail: field === undefined ? reason : `${field}: ${reason}`,
    ...(field !== undefined && { errors: [{ in: 'body', name: field, detail: reason }] }),
    ...(headers !== undefined && { headers }),
  })
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
