import * as v from 'valibot'
import type { FormPage } from '../wire/form-page.ts'
import { described, optionally } from '../wire/shapes.ts'
import { FoundSchema, PROPOSABLE_KINDS } from './found-service.ts'

export const MAX_NOTE_LENGTH = 1000

export const ProposalBodySchema = v.strictObject({
  url: described(v.string('expected an https URL'), 'Address of the service to list.'),
  kind: optionally(
    v.picklist(PROPOSABLE_KINDS, `expected one of ${PROPOSABLE_KINDS.join(', ')}`),
    'What it is; found out if absent.',
  ),
  note: optionally(
    v.pipe(
      v.string('expected text'),
      v.maxLength(MAX_NOTE_LENGTH, `expected at most ${MAX_NOTE_LENGTH} characters`),
    ),
    'What it does and costs; of a listed address, what to change.',
  ),
  email: optionally(v.string('expected an address'), 'Where to ask back; never published.'),
})
export type ProposalBody = v.InferOutput<typeof ProposalBodySchema>

export const PROPOSAL_STATES = ['waiting', 'accepted', 'refused'] as const

/** A proposal as the one who made it may see it: without note and address. */
export const ProposalSchema = v.object({
  id: v.string(),
  url: v.string(),
  status: v.picklist(PROPOSAL_STATES),
  created_at: v.string(),
  reason: v.nullable(v.string()),
  listing_id: v.nullable(v.string()),
  found: FoundSchema,
})
export type ProposalView = v.InferOutput<typeof ProposalSchema>

export const ProposedSchema = v.variant('status', [
  v.object({
    status: v.literal('waiting'),
    id: v.string(),
    /** Where to look what became of it. */
    page: v.string(),
    found: FoundSchema,
  }),
  v.object({ status: v.literal('listed'), listing_id: v.string(), page: v.string() }),
])
export type ProposedView = v.InferOutput<typeof ProposedSchema>

export type ProposalAnswer =
  | { kind: 'listed'; listing_id: string }
  | { kind: 'proposal'; proposal: ProposalView }

/** Page that says what became of a proposal. Anyone with its id may look. */
export function proposalPath(id: string): string {
  return `/propose?id=${id}`
}

export function correctionPath(listingId: string): string {
  return `/propose?listing=${listingId}`
}

/** The form, or what became of one; `listing` is the id of one to correct, empty for a new one. */
export type ProposePage = FormPage<
  ProposalAnswer,
  { url: string; kind: string; note: string; listing: string }
>
