import * as v from 'valibot'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { probeHandshake } from '../../functions/probes/handshake.ts'
import { toSurface } from '../../src/domain/derived/surface.ts'
import type { Finding } from '../../src/domain/probe/finding.ts'
import { mergeFinding } from '../../src/domain/probe/merge.ts'
import { planProbe } from '../../src/domain/probe/plan.ts'
import { EvidenceSchema } from '../../src/domain/trust/evidence.ts'
import { createLab, type LabSeller } from '../receipts/lab.ts'
import { startSite } from '../support/site.ts'
import { createTestClient, factsOf, type Site } from './probe-world.ts'

/**
 * The sellers that receipts are tried with, here for nothing: a probe asks each with its published example and
 * judges the answer as that of a paid call.
 */
const rules = { allowPrivate: true }
const AT = '2026-11-01T00:00:00Z'
const client = createTestClient()
let site: Site
let lab: LabSeller[]

beforeAll(async () => {
  site = await startSite((req, res) => {
    const [, id = '', city = ''] = decodeURIComponent(req.url ?? '').split('/')
    const seller = lab.find((one) => one.id === id)
    const { status, headers, chunks, isCut } = seller?.answer(city) ?? {
      ...{ status: 404, headers: {}, chunks: [], isCut: false },
    }
    res.writeHead(status, headers)
    for (const chunk of chunks) res.write(chunk)
    if (isCut) res.destroy()
    else res.end()
  })
  lab = createLab(site.url)
})
afterAll(async () => {
  await client.close()
  await site.close()
})

const factsOfSeller = ({ id, call: { method, url, params, response } }: LabSeller) =>
  factsOf({
    ...{ name: id, url: site.url },
    http: [{ method, url, params: params?.map((each) => ({ ...each, required: true })), response }],
  })

async function probe(seller: LabSeller) {
  const plan = planProbe(seller.id, factsOfSeller(seller))
  if (plan === null) throw new Error('no plan')
  return { plan, finding: await probeHandshake(plan.handshake, client, Date.now) }
}

test('answers of those that sell texts and data are told from what is none', async () => {
  const heard: { way: string; isGood: boolean; finding: Finding }[] = []
  for (const seller of lab) heard.push({ ...seller, ...(await probe(seller)) })
  const judged = heard.filter(({ finding }) => finding.judged !== undefined)
  expect(judged.length).toBeGreaterThan(100)
  const isRight = ({ finding }: (typeof heard)[number]) => finding.judged?.verdict === 'as_declared'
  expect(judged.filter((each) => each.isGood && !isRight(each))).toEqual([])
  const bad = judged.filter(({ isGood }) => !isGood)
  expect(bad.length).toBeGreaterThan(20)
  expect(bad.filter(isRight).length / bad.length).toBeLessThanOrEqual(0.05)
  // What is not text, was cut or was refused is the handshake's to say.
  expect(heard.filter(({ way, finding }) => way === 'cut off' && finding.judged)).toEqual([])
})

test('the word alone is kept, and only in the evidence', async () => {
  const seller = lab.find(({ way }) => way === 'error inside') as LabSeller
  const { plan, finding } = await probe(seller)
  expect(finding).toMatchObject({ outcome: 'spoke', judged: { verdict: 'error_in_200' } })
  const evidence = v.parse(EvidenceSchema, mergeFinding({}, finding, plan, AT))
  expect(evidence.interface?.operations?.[0]?.seen).toMatchObject({ verdict: 'error_in_200' })
  expect(JSON.stringify(evidence)).not.toMatch(/today|declare|says that/)
  const { operations } = toSurface(factsOfSeller(seller), evidence.interface, rules)
  expect(operations[0]?.seen).toMatchObject({ outcome: 'spoke' })
  expect(JSON.stringify(operations)).not.toContain('error_in_200')
})
