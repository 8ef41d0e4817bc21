import {
  type ProposalAnswer,
  ProposalBodySchema,
  type ProposedView,
  type ProposePage,
  proposalPath,
} from '../../src/domain/proposals/proposal-views.ts'
import { pagePath } from '../../src/domain/wire/links.ts'
import { createFormPage, createFormRoute, type Form, refuse } from '../forms/form.ts'
import type { Parts } from '../parts/parts.ts'
import type { SellerRoute } from '../sellers/sessions/seller-route.ts'
import { findProposal, toProposalView } from './proposal-store.ts'
import type { Propose } from './propose.ts'

const FIELDS = ['url', 'kind', 'note', 'email'] as const
const PROPOSAL_ID = /^p[0-9a-f]{18}$/

type PageParts = Pick<Parts, 'config' | 'ledger' | 'log' | 'release'>

function createProposalForm(
  { release }: Pick<Parts, 'release'>,
  propose: Propose,
): Form<typeof ProposalBodySchema, ProposePage['sent'], ProposalAnswer> {
  return {
    schema: ProposalBodySchema,
    subject: 'Proposals',
    toSent: (fields) => ({
      url: fields.get('url') ?? '',
      kind: fields.get('kind') ?? '',
      note: fields.get('note') ?? '',
      // Printed as a link: only an id that is listed.
      listing: release().listings.get(fields.get('listing') ?? '')?.id ?? '',
    }),
    // Empty fields of a form are fields left out.
    toBody: (fields) => {
      const given = FIELDS.map((name) => [name, fields.get(name)?.trim() ?? ''] as const)
      return Object.fromEntries(given.filter(([, value]) => value !== ''))
    },
    take: propose,
  }
}

/** `POST /api/v1/proposals`: 202 with what was found, or 200 where the address is listed already. */
export function createProposalRoute(parts: Parts, propose: Propose): SellerRoute {
  return createFormRoute(parts, createProposalForm(parts, propose), (answer) => {
    const body = toView(answer)
    return { status: body.status === 'waiting' ? 202 : 200, body }
  })
}

function toView(answer: ProposalAnswer): ProposedView {
  if (answer.kind === 'listed')
    return { status: 'listed', listing_id: answer.listing_id, page: pagePath(answer.listing_id) }
  const { id, found } = answer.proposal
  return { status: 'waiting', id, page: proposalPath(id), found }
}

/** `/propose`: the same for people, and what became of a proposal, by its id. */
export function createProposePage(parts: PageParts, propose: Propose) {
  const form = createProposalForm(parts, propose)
  return createFormPage(parts, form, async (query): Promise<ProposePage> => {
    const listing = parts.release().listings.get(query.get('listing') ?? '')
    const sent = { ...form.toSent(new URLSearchParams()), url: query.get('url') ?? '' }
    if (listing !== undefined)
      return { answer: { kind: 'empty' }, sent: { ...sent, url: listing.url, listing: listing.id } }
    const id = query.get('id')
    if (id === null) return { answer: { kind: 'empty' }, sent }
    const row = PROPOSAL_ID.test(id) ? await findProposal(parts.ledger.store.db, id) : undefined
    if (row !== undefined)
      return { answer: { kind: 'proposal', proposal: toProposalView(row) }, sent }
    const reason = 'No proposal has this id. A decided proposal is deleted after a while.'
    return { answer: refuse('not-found', reason), sent }
  })
}
