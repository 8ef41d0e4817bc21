import type { ProposalAnswer } from '../../src/domain/proposals/proposal-answer.ts'
import { proposalPath } from '../../src/domain/proposals/proposal-answer.ts'
import { ProposalBodySchema, type ProposedView } from '../../src/domain/proposals/proposal-views.ts'
import { pagePath } from '../../src/domain/wire/links.ts'
import { parseBody } from '../http/parse-body.ts'
import type { Parts } from '../parts/parts.ts'
import { toCaller } from '../probe/stranger-runs.ts'
import { createSellerRoute, type SellerRoute } from '../sellers/sessions/seller-route.ts'
import type { Propose } from './propose.ts'

const HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }

/** `POST /api/v1/proposals`: 202 with what was found, or 200 where the address is listed already. */
export function createProposalRoute(parts: Parts, propose: Propose): SellerRoute {
  const { problem } = parts
  return createSellerRoute(parts, async (event) => {
    const body = await parseBody(event.req, ProposalBodySchema, problem)
    if ('refusal' in body) return body.refusal
    const answer = await propose(body.output, toCaller(event, parts.config))
    if (answer.kind === 'refused') return toProblem(parts, answer)
    const view = toView(answer)
    return Response.json(view, { status: view?.status === 'waiting' ? 202 : 200, headers: HEADERS })
  })
}

function toProblem(
  { problem }: Parts,
  { code, reason, field, headers }: Extract<ProposalAnswer, { kind: 'refused' }>,
): Response {
  return problem(code, {
    detail: field === undefined ? reason : `${field}: ${reason}`,
    ...(field !== undefined && { errors: [{ in: 'body', name: field, detail: reason }] }),
    ...(headers !== undefined && { headers }),
  })
}

function toView(answer: ProposalAnswer): ProposedView | null {
  if (answer.kind === 'listed')
    return { status: 'listed', listing_id: answer.listing_id, page: pagePath(answer.listing_id) }
  if (answer.kind !== 'proposal') return null
  const { id, found } = answer.proposal
  return { status: 'waiting', id, page: proposalPath(id), found }
}
