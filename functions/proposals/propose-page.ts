import type { IncomingMessage } from 'node:http'
import * as v from 'valibot'
import type { ProposePage } from '../../src/domain/proposals/proposal-answer.ts'
import { ProposalBodySchema } from '../../src/domain/proposals/proposal-views.ts'
import { clientKey } from '../limits/client-key.ts'
import type { Parts } from '../parts/parts.ts'
import { isCrossSite } from '../sellers/sessions/cross-site.ts'
import { isStoreUnavailable } from '../store/schema/store-error.ts'
import { findProposal, toProposalView } from './proposal-store.ts'
import type { Propose } from './propose.ts'

/** Bytes of a sent form. */
const MAX_FORM_BYTES = 16 * 1024
const FIELDS = ['url', 'kind', 'note', 'email'] as const

const NOTHING_SENT = { url: '', kind: '', note: '' }

export function createProposePage(
  parts: Pick<Parts, 'config' | 'ledger' | 'log'>,
  propose: Propose,
): (req: IncomingMessage) => Promise<ProposePage> {
  return async (req) => {
    try {
      return await (req.method === 'POST' ? takeForm(parts, propose, req) : showOne(parts, req))
    } catch (error) {
      if (!isStoreUnavailable(error)) throw error
      parts.log.error('store.unavailable', { reason: String(error) })
      return refuse('store-unavailable', 'Proposals cannot be kept right now; try again later.')
    }
  }
}

async function showOne(
  { ledger }: Pick<Parts, 'ledger'>,
  req: IncomingMessage,
): Promise<ProposePage> {
  const query = new URL(req.url ?? '', 'http://x').searchParams
  const [id, url] = [query.get('id'), query.get('url')]
  if (id === null) return { answer: { kind: 'empty' }, sent: { ...NOTHING_SENT, url: url ?? '' } }
  const row = /^p[0-9a-f]{18}$/.test(id) ? await findProposal(ledger.store.db, id) : undefined
  return row === undefined
    ? refuse('not-found', 'No proposal has this id; decided ones are deleted after a while.')
    : { answer: { kind: 'proposal', proposal: toProposalView(row) }, sent: NOTHING_SENT }
}

async function takeForm(
  { config }: Pick<Parts, 'config'>,
  propose: Propose,
  req: IncomingMessage,
): Promise<ProposePage> {
  if (isCrossSite(toHeaders(req), config.BASE_URL))
    return refuse('cross-site', 'The form was sent from another site; fill it in here.')
  const text = await readForm(req)
  if (text === null) return refuse('payload-too-large', 'The form is too long.')
  const form = new URLSearchParams(text)
  // Empty fields of a form are fields left out.
  const given = FIELDS.map((name) => [name, form.get(name)?.trim() ?? ''] as const)
  const parsed = v.safeParse(
    ProposalBodySchema,
    Object.fromEntries(given.filter(([, value]) => value !== '')),
  )
  const sent = {
    url: form.get('url') ?? '',
    kind: form.get('kind') ?? '',
    note: form.get('note') ?? '',
  }
  if (!parsed.success) {
    const [issue] = parsed.issues
    const field = FIELDS.find((name) => name === v.getDotPath(issue)) ?? 'url'
    return {
      answer: { kind: 'refused', code: 'invalid-parameter', reason: `${issue.message}.`, field },
      sent,
    }
  }
  const forwarded = String(req.headers['x-forwarded-for'] ?? '')
  const client = clientKey(req.socket.remoteAddress, forwarded, config.TRUST_PROXY)
  return { answer: await propose(parsed.output, client), sent }
}

/** Null for another type, past the limit, or where it breaks off. */
function readForm(req: IncomingMessage): Promise<string | null> {
  const type = req.headers['content-type'] ?? ''
  if (!/^application\/x-www-form-urlencoded\b/i.test(type)) return Promise.resolve(null)
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      // What is too long is read on and dropped: the answer goes over the same connection.
      if (size <= MAX_FORM_BYTES) chunks.push(chunk)
    })
    req.once('end', () =>
      resolve(size > MAX_FORM_BYTES ? null : Buffer.concat(chunks).toString('utf8')),
    )
    req.once('close', () => resolve(null))
    req.once('error', () => resolve(null))
  })
}

function toHeaders(req: IncomingMessage): Headers {
  const headers = new Headers()
  for (const name of ['origin', 'sec-fetch-site']) {
    const value = req.headers[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  return headers
}

function refuse(
  code: 'not-found' | 'cross-site' | 'payload-too-large' | 'store-unavailable',
  reason: string,
): ProposePage {
  return { answer: { kind: 'refused', code, reason }, sent: NOTHING_SENT }
}
