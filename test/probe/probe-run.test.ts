import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  createEvidenceFiles,
  parseProbeOptions,
  probe,
} from '../../functions/commands/evidence/probe.ts'
import type { HttpLimits } from '../../functions/net/guard.ts'
import { type ProbeContentOptions, probeContent } from '../../functions/probes/schedule.ts'
import type { ProbePlan } from '../../src/domain/probe/plan.ts'
import { loopbackResolver } from '../call/relay-world.ts'
import { createContentFolder, listingText } from '../support/content-folder.ts'
import { runHere } from '../support/run-here.ts'
import { openClient, openSite, pay, planPaid } from './probe-world.ts'

afterEach(() => vi.restoreAllMocks())

async function run(
  contentDir: string,
  plans: ProbePlan[],
  options: Partial<Pick<ProbeContentOptions, 'staleMs' | 'limit' | 'now' | 'onProbe'>> = {},
  limits: Partial<HttpLimits> = {},
) {
  const summary = await probeContent({
    staleMs: 0,
    limit: 1000,
    concurrency: 16,
    now: Date.now,
    onProbe: () => {},
    ...options,
    evidence: createEvidenceFiles(contentDir),
    plans,
    client: openClient(limits),
    resolver: loopbackResolver,
  })
  return { summary }
}

const readEvidence = (dir: string, id: string) =>
  JSON.parse(readFileSync(join(dir, 'evidence', `${id.replace('.', '/')}.json`), 'utf8'))

describe('a probe run', () => {
  test('asks one at a time a host and at most four an address', async () => {
    const content = createContentFolder()
    let most = 0
    let inAll = 0
    const four = Promise.withResolvers<void>()
    const sites = await Promise.all(
      Array.from({ length: 8 }, async () => {
        let here = 0
        return openSite((req, res) => {
          here += 1
          inAll += 1
          expect(here).toBe(1)
          most = Math.max(most, inAll)
          if (inAll === 4) four.resolve()
          // Nobody is answered before four ask at once; a moment later a fifth would have come.
          void four.promise
            .then(() => sleep(15))
            .then(() => {
              here -= 1
              inAll -= 1
              pay(req, res)
            })
        })
      }),
    )
    const plans = sites.flatMap(({ url }, at) =>
      [1, 2, 3].map((n) => planPaid(`x402.s${at}-${n}`, `${url}/${n}`)),
    )
    const { summary } = await run(content.dir, plans)
    expect(summary).toMatchObject({ probed: 24, outcomes: { spoke: 24 } })
    expect(most).toBe(4)
  })

  test('writes files that read the same whatever the order, and leaves the rest of them alone', async () => {
    const { url } = await openSite(pay)
    const content = createContentFolder()
    const at = '2026-11-19T12:00:00Z'
    const drift = [
      { at, what: 'tools', name: 'find_ship', was: 'By name.', is: 'By number.', of: 'look' },
    ]
    const package_run = { at, outcome: 'unknown' }
    const before = { package_run, signals: { p95_ms: 5, status: 'online' }, drift }
    content.write('evidence/x402/a.json', JSON.stringify(before))
    const now = () => Date.parse('2026-11-20T12:00:00.789Z')
    await run(content.dir, [planPaid('x402.b', `${url}/b`), planPaid('x402.a', `${url}/a`)], {
      now,
    })
    const a = readFileSync(join(content.dir, 'evidence/x402/a.json'), 'utf8')
    expect(a.endsWith('}\n')).toBe(true)
    const members = ['signals', 'interface', 'drift', 'probes', 'package_run']
    expect(Object.keys(JSON.parse(a))).toEqual(members)
    expect(JSON.parse(a)).toMatchObject(before)
    expect(readEvidence(content.dir, 'x402.b').probes).toMatchObject([
      { at: '2026-11-20T12:00:00Z', outcome: 'spoke', version: '2' },
    ])
    expect(readdirSync(join(content.dir, 'evidence/x402')).sort()).toEqual(['a.json', 'b.json'])
  })

  test('takes up where it stopped: never probed first, and nobody twice before it is due', async () => {
    const site = await openSite(pay)
    const content = createContentFolder()
    const plans = ['a', 'b', 'c', 'd'].map((slug) =>
      planPaid(`x402.${slug}`, `${site.url}/${slug}`),
    )
    await run(content.dir, plans, { limit: 2 })
    const { summary } = await run(content.dir, plans, { staleMs: 3_600_000 })
    expect(site.requested).toEqual(['/a', '/b', '/c', '/d'])
    expect(summary).toMatchObject({ not_due: 2, probed: 2 })
  })

  test('asks a host that wants to be left alone no more', async () => {
    let requested = 0
    const site = await openSite((_req, res) => {
      requested += 1
      res.writeHead(429, { 'retry-after': '3600' }).end()
    })
    const content = createContentFolder()
    const plans = ['a', 'b', 'c'].map((slug) => planPaid(`x402.${slug}`, `${site.url}/${slug}`))
    const first = await run(content.dir, plans)
    expect(first.summary).toMatchObject({ probed: 1, held_back: 2, outcomes: { unknown: 1 } })
    expect(requested).toBe(1)
    await run(content.dir, plans.slice(0, 1))
    expect(requested).toBe(1)
  })

  test('holds nothing against anybody where nobody can be heard', async () => {
    const content = createContentFolder()
    const silent = await Promise.all([1, 2, 3, 4].map(() => openSite(() => {})))
    const plans = silent.map(({ url }, at) => planPaid(`x402.s${at}`, url))
    const alone = await run(content.dir, plans, {}, { answerMs: 300 })
    expect(alone.summary).toMatchObject({ is_offline: true, outcomes: { unknown: 4 } })
    // Who was not called was not silent either.
    const none = { kind: 'none', protocol: 'http', reason: 'no address' } as const
    const uncalled = ['x402.a', 'x402.b'].map((id) => ({ ...planPaid(id, ''), handshake: none }))
    const few = [...uncalled, ...plans.slice(0, 2)]
    const two = await run(createContentFolder().dir, few, {}, { answerMs: 300 })
    expect(two.summary).toMatchObject({ is_offline: false, outcomes: { dead: 2, unprobeable: 2 } })
    const { url } = await openSite(pay)
    // Here the others' time is over once the one that answers was heard, not when a clock says so.
    const over = new AbortController()
    const endOthers = (id: string) => {
      if (id === 'x402.well') over.abort(new DOMException('over', 'TimeoutError'))
    }
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(over.signal)
    const among = await run(content.dir, [planPaid('x402.well', url), ...plans], {
      onProbe: endOthers,
    })
    expect(among.summary).toMatchObject({ is_offline: false, outcomes: { dead: 4, spoke: 1 } })
  })

  test('never overwrites evidence that it cannot read', async () => {
    const { url } = await openSite(pay)
    const content = createContentFolder()
    content.write('evidence/x402/a.json', '{"measured": 1')
    await expect(run(content.dir, [planPaid('x402.a', url)])).rejects.toThrow(
      'evidence/x402/a.json',
    )
    expect(readFileSync(join(content.dir, 'evidence/x402/a.json'), 'utf8')).toBe('{"measured": 1')
  })
})

describe('npm run probe', () => {
  async function command(args: string[], env: Record<string, string>) {
    const own = { UNSAFE_ALLOW_PRIVATE_TARGETS: 'true', ...env }
    const { status, stdout, stderr } = await runHere(() => probe(args), own)
    return { code: status, out: stdout + stderr }
  }

  test('probes the content and says what came of it, a line each', async () => {
    const { url } = await openSite(pay)
    const content = createContentFolder()
    for (const table of readdirSync('test/fixtures/content/tables'))
      content.write(`tables/${table}`, readFileSync(`test/fixtures/content/tables/${table}`))
    for (const table of readdirSync('content/tables'))
      if (!existsSync(join(content.dir, 'tables', table)))
        content.write(`tables/${table}`, readFileSync(`content/tables/${table}`))
    const sources = '[{ source: mcp_registry, ref: "https://docs.weather.example/" }]'
    content.write('listings/x402/weather.md', listingText({ url, sources }))
    const env = { CONTENT_DIR: content.dir, STATE_DIR: join(content.dir, 'state') }
    const { code, out } = await command(['--json'], env)
    expect(code, out).toBe(0)
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toMatchObject([
      { id: 'x402.weather', protocol: 'x402', outcome: 'spoke', status: 402 },
      { summary: { listings: 1, probed: 1, outcomes: { spoke: 1 } } },
    ])
    expect(readEvidence(content.dir, 'x402.weather').interface.payouts).toMatchObject([
      { payout: `eip155:8453:0x${'ab'.repeat(20)}` },
    ])
    expect(await command(['x402.nobody'], env)).toMatchObject({ code: 1 })
  })

  test('ends with 2 where the command is wrong', async () => {
    expect(await command(['--limit', '0'], {})).toMatchObject({ code: 2 })
  })

  test.each([
    [['--stale', 'soon'], 'expected a time such as 24h'],
    [['--limit', '0'], 'expected a whole number'],
    [['No/Id'], 'expected a listing id'],
    [['--unknown'], 'Unknown option'],
  ])('%j is a wrong command', (args, words) => {
    expect(() => parseProbeOptions(args)).toThrow(words)
  })
})
