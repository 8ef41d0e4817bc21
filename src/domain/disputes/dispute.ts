import * as v from 'valibot'
import { ReceiptIdSchema } from '../receipts/receipt.ts'
import type { Notice } from '../trust/interface.ts'
import type { AcceptedDispute } from '../trust/ledger-facts.ts'
import type { FormPage } from '../wire/form-page.ts'
import { described } from '../wire/shapes.ts'

export const REASON_LENGTH = { least: 32, most: 1000 } as const
export const MAX_EVIDENCE_URLS = 5
const MAX_URL_LENGTH = 500

/** Control characters but line ends and tabs, and what turns text round or hides in it. */
const UNPRINTABLE = /[^\P{C}\n\r\t]|[\u2028\u2029]/u

const reason = v.pipe(
  v.string('expected text'),
  v.description(
    `What is wrong about the listing: ${REASON_LENGTH.least} to ${REASON_LENGTH.most} characters.`,
  ),
  v.transform((text) => text.trim()),
  v.check(
    (text) => lengthOf(text) >= REASON_LENGTH.least && lengthOf(text) <= REASON_LENGTH.most,
    `expected ${REASON_LENGTH.least} to ${REASON_LENGTH.most} characters`,
  ),
  v.check((text) => !UNPRINTABLE.test(text), 'expected printable text'),
)

/** Nobody here opens them but the person who decides. */
const evidenceUrl = v.pipe(
  v.string('expected an https URL'),
  v.maxLength(MAX_URL_LENGTH, `expected at most ${MAX_URL_LENGTH} characters`),
  v.check(
    isWebAddress,
    'expected an https URL of a public page, such as https://shop.example/terms',
  ),
)

export const DisputeBodySchema = v.strictObject({
  listing_id: described(v.string('expected text'), 'Id of the listing that is disputed.'),
  reason,
  evidence_urls: v.optional(
    v.pipe(
      v.array(evidenceUrl, 'expected a list of URLs'),
      v.maxLength(MAX_EVIDENCE_URLS, `expected at most ${MAX_EVIDENCE_URLS} URLs`),
      v.description('Pages where somebody can see what is wrong.'),
    ),
    [],
  ),
  receipt: v.optional(
    described(
      ReceiptIdSchema,
      'Id of a receipt of this listing whose verdict is wrong: then the verdict is disputed, and not the listing.',
    ),
  ),
})
export const DisputeTakenSchema = v.object({ id: v.string() })
export type DisputeBody = v.InferOutput<typeof DisputeBodySchema>

export type DisputePage = FormPage<
  { kind: 'taken'; id: string },
  { listing: string; reason: string; evidence: string; receipt: string }
>

const MAX_NOTE_LENGTH = 300

/** One notice, of the latest; it moves no score. */
export function toDisputeNotice(disputes: readonly AcceptedDispute[]): Notice[] {
  const latest = disputes.toSorted((a, b) => b.at - a.at)[0]
  if (latest === undefined) return []
  const count = disputes.length === 1 ? 'A dispute was' : `${disputes.length} disputes were`
  const head = `${count} looked at by a person and accepted.`
  const note = latest.note === '' ? head : `${head} ${latest.note}`
  return [{ id: 'disputed', note: cut(note), at: new Date(latest.at).toISOString() }]
}

function cut(text: string): string {
  const characters = [...text.replace(/\s+/g, ' ')]
  return characters.length <= MAX_NOTE_LENGTH
    ? characters.join('')
    : `${characters.slice(0, MAX_NOTE_LENGTH - 1).join('')}…`
}

/** As people count: an emoji of two code units is one. */
function lengthOf(text: string): number {
  return [...text].length
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || UNPRINTABLE.test(text) || /\s/.test(text)) return false
  return url.protocol === 'https:' && url.username === '' && url.password === ''
}
