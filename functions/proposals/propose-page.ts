import type { IncomingMessage, ServerResponse } from 'node:http'
import * as v from 'valibot'
import type { ProposePage } from '../../src/domain/proposals/proposal-answer.ts'
import { ProposalBodySchema } from '../../src/domain/proposals/proposal-views.ts'
import { readForm, toSiteHeaders } from '../http/form-body.ts'
import type { Parts } from '../parts/parts.ts'
import { toPageCaller } from '../probe/stranger-runs.ts'
import { isCrossSite } from '../sellers/sessions/cross-site.ts'
import { isStoreUnavailable } from '../store/schema/store-error.ts'
import { findProposal, toProposalView } from './proposal-store.ts'
import type { Propose } from './propose.ts'

const FIELDS = ['url', 'kind', 'note', 'email'] as const

const NOTHING_SENT = { url: '', kind: '', note: '', listing: '' }

export function createProposePage(
  parts: Pick<Parts, 'config' | 'ledger' | 'log' | 'release'>,
  propose: Propose,
): (req: IncomingMessage, res: ServerResponse) => Promise<ProposePage> {
  return async (req, res) => {
    try {
      return await (req.method === 'POST'
        ? takeForm(parts, propose, req, res)
        : showOne(parts, req))
    } catch (error) {
      if (!isStoreUnavailable(error)) throw error
      parts.log.error('store.unavailable', { reason: String(error) })
      return refuse('store-unavailable', 'Proposals cannot be kept right now; try again later.')
    }
  }
}

async function showOne(
  { ledger, release }: Pick<Parts, 'ledger' | 'release'>,
  req: IncomingMessage,
): Promise<ProposePage> {
  const query = new URL(req.url ?? '', 'http://x').searchParams
  const [id, url] = [query.get('id'), query.get('url')]
  const listing = release().listings.get(query.get('listing') ?? '')
  if (listing !== undefined)
    return {
      answer: { kind: 'empty' },
      sent: { ...NOTHING_SENT, url: listing.url, listing: listing.id },
    }
  if (id === null) return { answer: { kind: 'empty' }, sent: { ...NOTHING_SENT, url: url ?? '' } }
  const row = /^p[0-9a-f]{18}$/.test(id) ? await findProposal(ledger.store.db, id) : undefined
  return row === undefined
    ? refuse('not-found', 'No proposal has this id; decided ones are deleted after a while.')
    : { answer: { kind: 'proposal', proposal: toProposalView(row) }, sent: NOTHING_SENT }
}

async function takeForm(
  { config, release }: Pick<Parts, 'config' | 'release'>,
  propose: Propose,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<ProposePage> {
  if (isCrossSite(toSiteHeaders(req), config.BASE_URL))
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
    // Printed as a link: only an id that is listed.
    listing: release().listings.get(form.get('listing') ?? '')?.id ?? '',
  }
  if (!parsed.success) {
    const [issue] = parsed.issues
    const field = FIELDS.find((name) => name === v.getDotPath(issue)) ?? 'url'
    return {
      answer: { kind: 'refused', code: 'invalid-parameter', reason: `${issue.message}.`, field },
      sent,
    }
  }
  return { answer: await propose(parsed.output, toPageCaller(req, res, config)), sent }
}

function refuse(
  code: 'not-found' | 'cross-site' | 'payload-too-large' | 'store-unavailable',
  reason: string,
): ProposePage {
  return { answer: { kind: 'refused', code, reason }, sent: NOTHING_SENT }
}
