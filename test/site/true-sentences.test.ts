import { describe, expect, test } from 'vitest'
import { toCallRows } from '../../src/components/calls/call-rows.ts'
import { toTrustWords } from '../../src/components/evidence/evidence-words.ts'
import { toCallNote, toStatusText } from '../../src/components/listing/listing-page.ts'
import { toStripFacts } from '../../src/components/rows/decision-facts.ts'
import { toKitView } from '../../src/domain/kit/kit-view.ts'
import type { ReportedUse } from '../../src/domain/trust/evidence.ts'
import { ageOf } from '../../src/domain/trust/trust.ts'
import { toPaidWords } from '../../src/domain/views/known-view.ts'
import { toListingView } from '../../src/domain/views/listing-view.ts'
import { AS_OF, catalogue } from '../support/own-catalogue.ts'

/** Sentences of one listing's page that the rest of the page may deny. */
const SWITCHES = { sellers: true, payments: true, trust: true }
const pages = catalogue.listings.map((listing) => {
  const view = toListingView(listing, catalogue)
  const kit = toKitView(listing, { ...catalogue, trust: view.trust })
  const calls = toCallRows(kit)
  const code = kit.snippets.curl ?? ''
  const note = toCallNote(view, { code, reason: null }, SWITCHES)
  return {
    code,
    id: view.id,
    view,
    evidence: listing.evidence,
    sentences: `${toStatusText(view, calls, SWITCHES)} ${note}`,
    strip: toStripFacts(view, listing.probes, SWITCHES)
      .map(({ label, value, note }) => `${label} ${value} ${note}`)
      .join(', '),
    trust: toTrustWords(view.trust),
  }
})
type Page = (typeof pages)[number]

const isOfPayment = ({ what, outcome, value }: ReportedUse) =>
  value > 0 && (what === 'test_purchase' || (what === 'settlements' && outcome === undefined))
const RULES: [text: string, isDenied: (page: Page) => boolean][] = [
  [
    'we know of no',
    ({ view, evidence: { reported_use = [] } }) =>
      view.trust.evidence !== 'no_payment_data' ||
      view.delivered !== undefined ||
      reported_use.some(
        (use) =>
          isOfPayment(use) ||
          (use.what === 'payers' &&
            use.value > 0 &&
            reported_use.some(({ what }) => what === 'calls')),
      ),
  ],
  [
    'not probed',
    ({ strip, evidence: { probes = [] } }) =>
      /Last answered|Last probed/.test(strip) || probes.length > 0,
  ],
  [
    'we have not run it',
    ({ evidence: { package_run } }) =>
      package_run !== undefined && package_run.outcome !== 'unknown',
  ],
  ['what it costs', ({ strip }) => /Price/.test(strip)],
  ['how callers sign in', ({ strip }) => /Access/.test(strip)],
  ['Through the relay', ({ code }) => !code.includes('/api/v1/call/')],
  ['call the service directly', ({ code }) => code.includes('/api/v1/call/')],
  ['paid by MPP', ({ code }) => !code.includes('Authorization: Payment')],
  ['claimed yet, listed', ({ view }) => view.status === 'claimed' || view.first_party],
]

test.each(RULES)('no page of the default directory says “%s”, and denies it', (text, isDenied) => {
  const saying = pages.filter(({ sentences }) => sentences.includes(text))
  expect(saying.filter(isDenied).map(({ id }) => id)).toEqual([])
})

/** What the sentence says is held against the evidence itself, not against what made it. */
describe('each answer of a listing is in its evidence', () => {
  const all = pages.filter(({ view }) => view.kind !== 'kit')
  const paid = all.flatMap(({ id, view: { known }, evidence }) =>
    known.paid?.known === true ? [{ id, evidence, ...known.paid }] : [],
  )

  test('whoever is said to have been paid has a figure of that source and day', () => {
    expect(paid.length).toBeGreaterThan(100)
    for (const { id, text, as_of, source, evidence } of paid) {
      const { reported_use = [], measured } = evidence
      const figures = reported_use.filter((use) => use.source === source && use.to === as_of)
      expect([id, figures.length > 0 || measured?.source === source]).toEqual([id, true])
      const numbers = [...text.matchAll(/(\d[\d,]*) (?:settlement|call|wallet|payer)s?\b/g)]
      for (const [, number = ''] of numbers)
        expect([id, figures.map(({ value }) => value)]).toEqual([
          id,
          expect.arrayContaining([Number(number.replaceAll(',', ''))]),
        ])
    }
  })

  test('a payee that hosts share is said to be shared, and a doubted count is no payment', () => {
    const counted = all.flatMap(({ id, view: { known }, evidence, sentences }) =>
      (evidence.reported_use ?? [])
        .filter(({ what, source }) => what === 'settlements' && source === known.paid?.source)
        .map((use) => ({ id, use, sentences, isPaid: known.paid?.known })),
    )
    const doubted = counted.filter(({ use }) => use.outcome !== undefined)
    expect(doubted.filter(({ isPaid }) => isPaid).map(({ id }) => id)).toEqual([])
    // A count that is no sale is named, and its sizes stand elsewhere: the line stays one to read.
    for (const { sentences } of doubted) expect(sentences).not.toMatch(/ in all| wallets/)
    const shared = counted.filter(({ use }) => use.shared_with !== undefined)
    expect(shared.length).toBeGreaterThan(3)
    for (const { id, use, sentences } of shared)
      expect([id, sentences]).toEqual([
        id,
        expect.stringContaining(`that ${use.shared_with} hosts share`),
      ])
  })

  test('whoever is said to answer answered a probe, a test purchase or a run, on that day', () => {
    const answering = all.filter(({ view }) => view.known.answers?.known === true)
    expect(answering.length).toBeGreaterThan(30)
    for (const { id, view, evidence } of answering) {
      const { probes = [], reported_use = [], package_run } = evidence
      const days = [
        ...probes.flatMap(({ at, outcome }) => (/spoke|gated/.test(outcome) ? [at] : [])),
        ...reported_use.flatMap(({ as_of, outcome }) => (/^2/.test(outcome ?? '') ? [as_of] : [])),
        ...(package_run?.outcome === 'runs_as_declared' ? [package_run.at] : []),
      ]
      expect([id, days.map((day) => day.slice(0, 10))]).toEqual([
        id,
        expect.arrayContaining([view.known.answers?.as_of]),
      ])
    }
  })

  describe('of two hundred listings', () => {
    const some = all.filter((_, n) => n % Math.floor(all.length / 200) === 0).slice(0, 200)
    const rows = some.map(({ id, view, evidence }) => {
      const listing = catalogue.byId.get(id)
      if (listing === undefined) throw new Error(`${id}: expected a listing`)
      return { id, view, evidence, listing, short: toPaidWords(listing, catalogue.sources) ?? '' }
    })

    test('the owner has the day and a source of the listing', () => {
      expect(rows.length).toBe(200)
      for (const { id, view, listing } of rows) {
        const { as_of, source } = view.known.owner
        expect([id, as_of]).toEqual([id, listing.facts.added])
        const sources = view.sources.map((each) => each.source)
        expect([id, sources]).toEqual([id, expect.arrayContaining([source])])
      }
    })

    test('a row says that somebody paid where the evidence does, with a figure of it in 60 bytes', () => {
      for (const { id, view, evidence, short } of rows) {
        const uses = evidence.reported_use ?? []
        const callers = new Set(
          uses.flatMap(({ what, source }) => (what === 'calls' ? source : [])),
        )
        const isCalled = uses.some(
          ({ what, value, source }) => what === 'payers' && value > 0 && callers.has(source),
        )
        const isPaid = isCalled || uses.some(isOfPayment)
        expect([id, short !== '', view.known.paid?.known ?? false]).toEqual([id, isPaid, isPaid])
        const [, number = '1'] = /: (?:about )?(\d[\d,]*) /.exec(short) ?? []
        const figures = ['1', ...uses.map(({ value }) => String(value))]
        expect([id, figures]).toEqual([id, expect.arrayContaining([number.replaceAll(',', '')])])
        expect(Buffer.byteLength(short)).toBeLessThanOrEqual(60)
      }
    })

    test('none that spoke to our last probe is said not to answer', () => {
      const silent = rows.filter(({ view }) => view.known.answers?.known === false)
      expect(silent.length).toBeGreaterThan(100)
      const speaking = silent.filter(({ evidence }) => evidence.probes?.at(-1)?.outcome === 'spoke')
      expect(speaking.map(({ id }) => id)).toEqual([])
    })
  })

  test('every paid listing says something with a day and a source, none past its limit', () => {
    const sold = all.filter(({ view }) => view.pricing.model === 'per_call')
    const dated = sold.filter(({ evidence }) => evidence.reported_use !== undefined)
    expect(dated.length).toBeGreaterThanOrEqual(110)
    for (const { id, view } of sold) {
      const { owner, paid: fact } = view.known
      expect([id, owner.as_of, owner.source]).toEqual([id, expect.any(String), expect.any(String)])
      if (fact?.as_of !== undefined)
        expect([id, ageOf(fact.as_of, AS_OF) <= 180]).toEqual([id, true])
    }
  })
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
