import type { IncomingMessage } from 'node:http'
import * as v from 'valibot'
import { DisputeBodySchema } from '../../src/domain/disputes/dispute.ts'
import type { DisputePage } from '../../src/domain/disputes/dispute-page.ts'
import { readForm, toSiteHeaders } from '../http/form-body.ts'
import { clientKey } from '../limits/client-key.ts'
import type { Parts } from '../parts/parts.ts'
import { isCrossSite } from '../sellers/sessions/cross-site.ts'
import { isStoreUnavailable } from '../store/schema/store-error.ts'
import { DISPUTE_REFUSALS, takeDispute } from './dispute-route.ts'

type PageParts = Pick<Parts, 'config' | 'ledger' | 'log' | 'limits' | 'clock' | 'release'>
type Sent = DisputePage['sent']
type Refusal = Extract<DisputePage['answer'], { kind: 'refused' }>

/** `/dispute`: the same as the endpoint for people, with a form that needs no JavaScript. */
export function createDisputePage(
  parts: PageParts,
): (req: IncomingMessage) => Promise<DisputePage> {
  return async (req) => {
    const query = new URL(req.url ?? '', 'http://x').searchParams
    const empty = { listing: query.get('listing') ?? '', reason: '', evidence: '' }
    if (req.method !== 'POST') return { answer: { kind: 'empty' }, sent: empty }
    try {
      return await takeForm(parts, req, empty)
    } catch (error) {
      if (!isStoreUnavailable(error)) throw error
      parts.log.error('store.unavailable', { reason: String(error) })
      const reason = 'Disputes cannot be kept right now; try again later.'
      return { answer: { kind: 'refused', code: 'store-unavailable', reason }, sent: empty }
    }
  }
}

async function takeForm(parts: PageParts, req: IncomingMessage, empty: Sent): Promise<DisputePage> {
  const { config, limits } = parts
  const refuse = (sent: Sent, refusal: Omit<Refusal, 'kind'>): DisputePage => ({
    answer: { kind: 'refused', ...refusal },
    sent,
  })
  if (isCrossSite(toSiteHeaders(req), config.BASE_URL)) {
    const reason = 'The form was sent from another site; fill it in here.'
    return refuse(empty, { code: 'cross-site', reason })
  }
  const forwarded = String(req.headers['x-forwarded-for'] ?? '')
  const client = clientKey(req.socket.remoteAddress, forwarded, config.TRUST_PROXY)
  const { allowed, headers } = await limits.take('dispute', client)
  if (!allowed) {
    const reason = `Too many disputes from here; try again in ${headers['Retry-After']} s.`
    return refuse(empty, { code: 'rate-limited', reason, headers })
  }
  const text = await readForm(req)
  if (text === null)
    return refuse(empty, { code: 'payload-too-large', reason: 'The form is too long.' })
  const sent = toSent(new URLSearchParams(text))
  const parsed = v.safeParse(DisputeBodySchema, toBody(sent))
  if (!parsed.success) {
    const [issue] = parsed.issues
    const reason = `${FIELD_NAMES[v.getDotPath(issue)?.split('.')[0] ?? ''] ?? 'The form'}: ${issue.message}.`
    return refuse(sent, { code: 'invalid-parameter', reason })
  }
  const taken = await takeDispute(parts, parsed.output)
  if (taken === 'no_listing')
    return refuse(sent, { code: 'listing-not-found', reason: DISPUTE_REFUSALS.no_listing })
  if ('full' in taken)
    return refuse(sent, { code: 'rate-limited', reason: DISPUTE_REFUSALS[taken.full] })
  return { answer: { kind: 'taken', id: taken.id }, sent }
}

const FIELD_NAMES: Record<string, string> = {
  listing_id: 'Listing',
  reason: 'What is wrong',
  evidence_urls: 'Pages that show it',
}

function toSent(form: URLSearchParams): Sent {
  const read = (name: string) => form.get(name) ?? ''
  return { listing: read('listing'), reason: read('reason'), evidence: read('evidence') }
}

/** A text area ends its lines as mail does; one page stands on each. */
function toBody({ listing, reason, evidence }: Sent) {
  const urls = evidence.split(/\s+/).filter((line) => line !== '')
  return { listing_id: listing, reason: reason.replaceAll('\r\n', '\n'), evidence_urls: urls }
}
