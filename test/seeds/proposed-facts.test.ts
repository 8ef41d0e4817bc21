import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { createFactQueue, PROPOSED_PAYOUTS } from '../../seeds/review/proposed-facts.ts'
import { readContent } from '../../src/content/read.ts'
import { readPayoutStates } from '../../src/derive/payouts.ts'
import { NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'
import { type ContentFolder, createContentFolder, listingText } from '../support/content-folder.ts'
import { settleOne } from './settle-one.ts'

describe('payouts that the 402 of a known operator named', () => {
  const payout = `eip155:8453:0x${'ab'.repeat(20)}`
  const seen = JSON.stringify({
    interface: {
      at: '2026-11-01T00:00:00Z',
      from: 'x402',
      payouts: [{ payout, network: 'eip155:8453', seen_at: '2026-11-01T00:00:00Z' }],
    },
  })
  const shop = (host: string, more: Record<string, string> = {}) =>
    listingText({
      url: `https://${host}/`,
      http: `[{ method: GET, url: "https://${host}/search" }]`,
      ...more,
    })
  let folder: ContentFolder
  beforeAll(() => {
    folder = createContentFolder({
      'tables/independent_operators.yaml':
        '- { domain: known.example, name: Known, why: Known. }\n',
      'listings/x402/known.md': shop('api.known.example'),
      'evidence/x402/known.json': seen,
      'listings/x402/published.md': shop('pay.known.example', {
        payout: `["eip155:8453:0x${'cd'.repeat(20)}"]`,
      }),
      'evidence/x402/published.json': seen,
      'listings/x402/stranger.md': shop('stranger.example'),
      'evidence/x402/stranger.json': seen,
      'listings/x402/through.md': shop('known.example', {
        http: '[{ method: GET, url: "https://proxy.example/known" }]',
      }),
      'evidence/x402/through.json': seen,
    })
  })

  test('wait for a person; of nobody else, and not where one is published', async () => {
    const place = { contentDir: folder.dir, allowPrivate: false }
    const queue = createFactQueue(PROPOSED_PAYOUTS, place, () => '2026-11-22T00:00:00Z')
    const [item, ...more] = await queue.list()
    expect([item?.listing, item?.note, more]).toEqual([
      'x402.known',
      expect.stringMatching(`its 402 named ${payout}; accept it only if`),
      [],
    ])
    if (item !== undefined) await settleOne(queue, item, { decision: 'accepted', reason: '' })
    const text = readFileSync(join(folder.dir, 'listings/x402/known.md'), 'utf8')
    expect(text).toContain(
      `\n# its 402 named it; without payout_source, payments to it do not count.\npayout: ["${payout}"]\n---`,
    )
    expect(await queue.list()).toEqual([])
  })
})

describe('payees that sources name', () => {
  const base = (byte: string) => `eip155:8453:0x${byte.repeat(20)}`
  const [OWN, LONE, SHARED, COMMON] = ['1a', '2b', '3c', '4d'].map(base) as [string, ...string[]]
  const rowsOf = (payees: Record<string, object[]>) =>
    JSON.stringify({
      rows: Object.fromEntries(
        Object.entries(payees).map(([of, named]) => [
          of,
          { id: of, of, added: '2026-11-20', facts: {}, payees: named },
        ]),
      ),
    })
  const shop = (host: string) =>
    listingText({
      url: `https://${host}/`,
      http: `[{ method: GET, url: "https://${host}/now" }]`,
      payout: `["${base('ee')}"]`,
    }).replace(/\npayout_source: .*/, '')
  let folder: ContentFolder
  beforeAll(() => {
    folder = createContentFolder({
      'listings/x402/tides.md': shop('tides.example'),
      'listings/x402/ferries.md': shop('ferries.example').replace(/payout: .*\n/, ''),
      'sources/merona/rows.json': rowsOf({
        'x402.tides': [
          { payee: OWN },
          { payee: LONE },
          { payee: SHARED, shared_with: 148 },
          { payee: COMMON },
        ],
        'x402.ferries': [{ payee: COMMON }],
      }),
      'sources/x402-bazaar-doctor/rows.json': rowsOf({
        'x402.tides': [
          { payee: OWN.toUpperCase().replace('EIP155:8453:0X', 'eip155:8453:0x') },
          { payee: SHARED },
        ],
        'x402.ferries': [{ payee: COMMON }],
      }),
    })
  })
  const queue = () =>
    createFactQueue(
      PROPOSED_PAYOUTS,
      { contentDir: folder.dir, allowPrivate: false },
      () => '2026-11-22T00:00:00Z',
    )
  const state = () => {
    const { content } = readContent(folder.dir, { allowPrivate: false })
    if (content === null) throw new Error('expected sound content')
    return readPayoutStates(content, NO_LEDGER_FACTS, 'https://waypost.example').get('x402.tides')
  }

  test('wait, each with who named it and why it can’t be accepted yet', async () => {
    const waiting = await queue().list()
    expect(waiting.map(({ listing, note }) => [listing, note])).toEqual([
      ['x402.ferries', expect.stringMatching(`${COMMON}; x402.tides may be paid there too`)],
      ['x402.tides', expect.stringMatching(`${COMMON}; x402.ferries may be paid there too`)],
      ['x402.tides', expect.stringMatching(`merona and x402-bazaar-doctor named ${OWN}; accept`)],
      ['x402.tides', expect.stringMatching(`merona named ${LONE}; only merona named it`)],
      ['x402.tides', expect.stringMatching(`${SHARED}; 148 hosts may be paid there too`)],
    ])
    const before = readFileSync(join(folder.dir, 'listings/x402/tides.md'), 'utf8')
    for (const item of waiting.filter(({ note }) => !note.includes(OWN)))
      await expect(settleOne(queue(), item, { decision: 'accepted', reason: '' })).rejects.toThrow(
        /may be paid there too|second source must name it too/,
      )
    expect(readFileSync(join(folder.dir, 'listings/x402/tides.md'), 'utf8')).toBe(before)
    expect((await queue().list()).length).toBe(5)
  })

  test('one that two sources name can be accepted, and still counts for nothing', async () => {
    expect(state()).toMatchObject({ owned: [] })
    const item = (await queue().list()).find(({ note }) => note.includes(OWN))
    if (item === undefined) throw new Error('expected a proposal')
    await settleOne(queue(), item, { decision: 'accepted', reason: '' })
    const path = join(folder.dir, 'listings/x402/tides.md')
    const text = readFileSync(path, 'utf8')
    expect(text).toContain(`\npayout: ["${base('ee')}", "${OWN}"]\n`)
    expect((await queue().list()).filter(({ note }) => note.includes(OWN))).toEqual([])
    expect(state()).toMatchObject({ owned: [] })
    // Its page is what makes it count, so nothing is added to a list that a page vouches for.
    const proved = text.replace('\npayout:', '\npayout_source: https://tides.example/pay\npayout:')
    writeFileSync(path, proved)
    expect(state()).toMatchObject({ owned: [base('ee'), OWN] })
    writeFileSync(path, proved.replace(`, "${OWN}"`, ''))
    const [again] = (await queue().list()).filter(({ note }) => note.includes(OWN))
    expect(again?.note).toContain(
      'if https://tides.example/pay names it, add it to the file by hand',
    )
  })
})
