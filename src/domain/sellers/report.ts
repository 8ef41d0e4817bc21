import * as v from 'valibot'
import type { Notice } from '../trust/evidence.ts'
import type { AcceptedDispute } from '../trust/ledger-facts.ts'
import type { Refused } from '../wire/problems.ts'
import { described, optionally } from '../wire/shapes.ts'
import { cutText } from '../wire/text.ts'

/**
 * Anybody's report: about a service without a listing, a mistake in a listing, or a service that
 * does not do what it promises. A reviewer reads each report and decides.
 */
export const REPORT_KINDS = ['new', 'wrong', 'dispute'] as const
export type ReportKind = (typeof REPORT_KINDS)[number]

export const REPORT_STATES = ['waiting', 'accepted', 'refused'] as const

export const MAX_TEXT_LENGTH = 1000
/** A service's address may be enough; a dispute needs a reason. */
export const MIN_TEXT_LENGTH: Readonly<Record<ReportKind, number>> = {
  new: 0,
  wrong: 1,
  dispute: 32,
}
export const MAX_LINKS = 5
const MAX_LINK_LENGTH = 500

/** Control characters except line breaks and tabs, and characters that reverse or hide text. */
const UNPRINTABLE = /[^\P{C}\n\r\t]|[\u2028\u2029]/u

const text = v.pipe(
  v.string('expected text'),
  v.description(
    `What it does and costs, what to change, or what is wrong: at most ${MAX_TEXT_LENGTH} characters, and for a dispute at least ${MIN_TEXT_LENGTH.dispute}.`,
  ),
  v.transform((given) => given.trim()),
  v.check(
    (given) => lengthOf(given) <= MAX_TEXT_LENGTH,
    `expected at most ${MAX_TEXT_LENGTH} characters`,
  ),
  v.check((given) => !UNPRINTABLE.test(given), 'expected printable text'),
)

/** A link that nobody but the reviewer opens. */
const link = v.pipe(
  v.string('expected an https URL'),
  v.maxLength(MAX_LINK_LENGTH, `expected at most ${MAX_LINK_LENGTH} characters`),
  v.check(
    isWebAddress,
    'expected an https URL of a public page, such as https://shop.example/terms',
  ),
)

export const ReportBodySchema = v.strictObject({
  about: described(
    v.pipe(v.string('expected text'), v.maxLength(2000, 'expected at most 2000 characters')),
    'The address of a new service, the id of a listing, or the id of a disputed receipt.',
  ),
  kind: described(
    v.picklist(REPORT_KINDS, `expected one of ${REPORT_KINDS.join(', ')}`),
    'New for a service to list, wrong for a mistake in a listing, dispute for a service that does not do what it says.',
  ),
  text: v.optional(text, ''),
  links: v.optional(
    v.pipe(
      v.array(link, 'expected a list of URLs'),
      v.maxLength(MAX_LINKS, `expected at most ${MAX_LINKS} URLs`),
      v.description('Pages that show what you report.'),
    ),
    [],
  ),
  email: optionally(v.string('expected an address'), 'For our questions; never published.'),
})

export const ReportTakenSchema = v.variant('status', [
  /** The address in `page` shows the outcome. */
  v.object({ status: v.picklist(REPORT_STATES), id: v.string(), page: v.string() }),
  v.object({ status: v.literal('listed'), listing_id: v.string(), page: v.string() }),
])

/** The form's path with known fields filled in. @param about what the report is about; empty if unknown */
export function reportPath(kind: ReportKind, about = ''): string {
  return `/report?${new URLSearchParams({ kind, ...(about !== '' && { about }) })}`
}

/** A report's outcome. Anyone with its id may read it. */
export function reportStatePath(id: string): string {
  return `/report?id=${id}`
}

const MAX_NOTICE_LENGTH = 300

/** One notice, about the latest dispute; it changes no score. */
export function toDisputeNotice(disputes: readonly AcceptedDispute[]): Notice[] {
  const latest = disputes.toSorted((a, b) => b.at - a.at)[0]
  if (latest === undefined) return []
  const count = disputes.length === 1 ? 'A dispute was' : `${disputes.length} disputes were`
  const head = `${count} reviewed by a person and accepted.`
  const note = latest.note === '' ? head : `${head} ${latest.note}`
  return [
    {
      id: 'disputed',
      note: cutText(note.replace(/\s+/g, ' '), MAX_NOTICE_LENGTH),
      at: new Date(latest.at).toISOString(),
    },
  ]
}

/** Length in characters as people count them: an emoji of two code units is one character. */
export function lengthOf(text: string): number {
  return [...text].length
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || UNPRINTABLE.test(text) || /\s/.test(text)) return false
  return url.protocol === 'https:' && url.username === '' && url.password === ''
}

/** A report as anybody with its id sees it: without its text and sender. */
export interface ReportView {
  id: string
  kind: ReportKind
  about: string
  status: (typeof REPORT_STATES)[number]
  /** The reviewer's reason. */
  reason: string | null
  listing_id: string | null
}

export type ReportAnswer =
  | { kind: 'listed'; listing_id: string }
  | { kind: 'report'; report: ReportView }

export type ReportPage = FormPage<
  ReportAnswer,
  { kind: ReportKind; about: string; text: string; links: string }
>

/** State of a form's page: the empty form, the reason for a refusal, or the outcome. */
interface FormPage<Answer, Sent> {
  answer: { kind: 'empty' } | Refused | Answer
  sent: Sent
}
