import { expect, test } from 'vitest'
import { toKitView } from '../../src/domain/kit/kit-view.ts'
import { ageOf } from '../../src/domain/trust/age.ts'
import { toListingView } from '../../src/domain/views/listing-view.ts'
import { toCallRows } from '../../src/site/calls/call-rows.ts'
import { toUseWords } from '../../src/site/evidence/signal-words.ts'
import { toTrustWords } from '../../src/site/evidence/trust-words.ts'
import { toStanding } from '../../src/site/listing/known-facts.ts'
import { toStrip } from '../../src/site/rows/decision-facts.ts'
import { AS_OF, catalogue } from '../support/own-catalogue.ts'

/** Sentences of one listing's page that the rest of the page may deny. */
const SWITCHES = { sellers: true, payments: true, trust: true }
const pages = catalogue.listings.map((listing) => {
  const view = toListingView(listing, catalogue)
  const calls = toCallRows(toKitView(listing, { ...catalogue, trust: view.trust }))
  const { facts, sentences } = toStanding(
    view,
    { probes: listing.probes, calls, from: listing.evidence.interface?.from },
    SWITCHES,
  )
  return {
    id: view.id,
    view,
    sentences,
    strip: toStrip(view, listing.probes, SWITCHES).text.replace(/<[^>]*>/g, ' '),
    known: facts.map(({ text }) => text).join('. '),
    used: toUseWords(view.signals, (id) => id),
    trust: toTrustWords(view.trust),
    /** Where its tools or skills were read; of a catalogue's word nobody had an answer. */
    from: listing.evidence.interface?.from,
  }
})
type Page = (typeof pages)[number]

const RULES: [said: string, isDenied: (page: Page) => boolean][] = [
  [
    'whether anybody has paid',
    ({ view, used }) =>
      view.trust.evidence !== 'no_payment_data' ||
      view.delivered !== undefined ||
      used.some(([, counts]) => /calls?\b|payers?\b/.test(counts)),
  ],
  [
    'whether it answers',
    ({ strip, known, view, from }) =>
      /Last answered|Speaks |Answers,/.test(strip + known) ||
      (from !== undefined && from !== 'catalog') ||
      (view.kind === 'mcp_server' && /On your machine/.test(strip)),
  ],
  ['what it costs', ({ strip }) => /Price/.test(strip)],
  ['how callers sign in', ({ strip }) => /Access/.test(strip)],
  ['who owns it', ({ known }) => /proved the domain/.test(known)],
]

test.each(RULES)(
  'no page of the default directory says that %s is not known, and denies it',
  (said, isDenied) => {
    const saying = pages.filter(({ sentences }) => sentences.includes(said))
    expect(saying.filter(isDenied).map(({ id }) => id)).toEqual([])
  },
)

test('what others counted says its day and who counted before the number, and none is past its limit', () => {
  const rows = pages.flatMap(({ id, used }) => used.map((row) => [id, ...row] as const))
  expect(rows.length).toBeGreaterThan(50)
  for (const [id, label, counts] of rows) {
    const [, day = ''] =
      /^(?:In the 30 days|Up) to (\d{4}-\d\d-\d\d), counted by \S/.exec(label) ?? []
    expect([id, ageOf(day, AS_OF) <= 180]).toEqual([id, true])
    expect(counts).not.toMatch(/(?<!at least [\d,]+ )(?<=\d )payers?/)
  }
})

test('every listing paid by MPP says which payments are not counted', () => {
  const paid = pages.filter(
    ({ view }) => view.pricing.model === 'per_call' && view.pricing.rails.includes('mpp'),
  )
  expect(paid.length).toBeGreaterThan(5)
  for (const { id, sentences } of paid)
    expect([id, sentences]).toEqual([id, expect.stringContaining('MPP sessions are not counted')])
})

test('a score is said with the end of its window, a missing one without numbers', () => {
  for (const { id, view, trust, strip } of pages) {
    if (view.trust.evidence === 'no_payment_data') expect([id, trust.numbers]).toEqual([id, []])
    else expect(strip).toContain(view.trust.as_of.slice(0, 10))
  }
})
