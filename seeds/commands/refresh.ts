import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { check } from '../../functions/commands/check.ts'
import { readChains } from '../../functions/commands/evidence/measure.ts'
import { probe, readSoundContent } from '../../functions/commands/evidence/probe.ts'
import { type Config, parseConfig } from '../../functions/ports/config.ts'
import {
  createStderrLog,
  readCommandLine,
  runMain,
  untilStopped,
  wrongCommand,
} from '../../functions/ports/run-main.ts'
import { hasLedger } from '../../functions/store/sqlite.ts'
import { toPrintable } from '../../src/content/faults.ts'
import { type Content, readContent } from '../../src/content/read.ts'
import type { Gone } from '../../src/domain/listing/listing-states.ts'
import { normalizePayout } from '../../src/domain/listing/networks.ts'
import { toPriceText } from '../../src/domain/listing/pricing.ts'
import { toDriftNotices } from '../../src/domain/probe/merge.ts'
import { type ProbePlan, planProbe } from '../../src/domain/probe/plan.ts'
import {
  type ContentHash,
  ContentHashSchema,
  type Difference,
  describeChange,
  findDifferences,
} from '../../src/domain/sellers/change-log.ts'
import type { Evidence } from '../../src/domain/trust/evidence.ts'
import { newestOutcome, toUseSentences } from '../../src/domain/views/known-view.ts'
import { parseJson } from '../../src/domain/wire/json.ts'
import { OperatorError } from '../../src/domain/wire/problems.ts'
import { SOURCE_IDS } from '../sources/sources.ts'
import { seed } from './seed.ts'

const HELP = `Usage: npm run refresh -- [importer[=FILE|URL]…] [--summary FILE]

Brings the content up to date: reads every source (or only the named importers, each from the FILE
or URL given), probes the listings that were not probed for a day, reads the payments on the chains
in RPC_URLS, checks the content, and prints a summary of what changed.
  --summary FILE  also writes the summary to FILE, as Markdown

Steps run one after another, so that no host gets requests from two steps at once. If a step fails,
it is named and the others still run. If a run was killed, the next run reads the sources again,
probes only the listings that were not probed yet, and its summary covers both runs.
Exit: 0 done, 1 something failed, 2 the command was wrong.`

const MOST_LINES = 200
const MAX_LINE = 400

/** For a listing that its sources no longer list. */
const WITHDRAWN = { reason: 'withdrawn' as const }

/** @returns the summary, the number of failures, and `end`, which deletes the facts kept for a stopped run */
async function refresh(words: readonly string[], config: Config) {
  const kept = join(config.STATE_DIR, 'refresh.ndjson')
  const content = readSoundContent(config, 'refreshed')
  const before = readKept(kept) ?? keep(kept, await readFacts(content, config))
  const faults: string[] = []
  const stop = untilStopped()
  for (const [name, step] of Object.entries(toSteps(words, config))) {
    if (stop.aborted) throw new OperatorError('Stopped: run the command again to continue.')
    const stated = await step().catch((error: unknown) => {
      const text = error instanceof Error ? error.message : String(error)
      console.error(error instanceof OperatorError ? text : error)
      return [text]
    })
    for (const text of stated) faults.push(`${name}: ${text}`)
  }
  // Content with errors cannot be compared; `check` has reported the errors.
  const { content: now } = readContent(config.CONTENT_DIR, { allowPrivate: config.PRIVATE_TARGETS })
  const after = now === null ? before : await readFacts(now, config)
  const withdrawn = [...(now?.withdrawn.keys() ?? [])].map((id) => [id, WITHDRAWN] as const)
  const gone = new Map<string, Pick<Gone, 'reason'>>([...withdrawn, ...(now?.tombstones ?? [])])
  const differences = findDifferences(before, after, gone)
  const isMeasured = Object.keys(config.RPC_URLS).length > 0
  const text = toSummary({ after, differences, faults, isMeasured })
  return { text, faults: faults.length, end: () => rmSync(kept) }
}

function toSteps(
  words: readonly string[],
  config: Config,
): Record<string, () => Promise<readonly string[]>> {
  const { CONTENT_DIR, RPC_URLS } = config
  const sources = words.length === 0 ? ['all'] : words
  return {
    seed: async () => {
      const faults: string[] = []
      for (const source of sources) {
        const [importer = '', from] = source.split(/=(.*)/s)
        const place = from === undefined ? [] : ['--from', from]
        const failed = await seed([importer, '--content', CONTENT_DIR, ...place])
        for (const { fault } of failed) faults.push(fault)
      }
      return faults
    },
    probe: async () => {
      await probe(['--stale', '24h'])
      return []
    },
    measure: async () => {
      // A directory may be set up to read no chains.
      const reports = Object.keys(RPC_URLS).length === 0 ? [] : await readChains([])
      return reports.flatMap(({ network, stopped }) =>
        stopped === null ? [] : [`${network}: ${stopped}`],
      )
    },
    check: async () => ((await check([])) ? [] : ['the content has errors: see npm run check']),
  }
}

type Facts = ReadonlyMap<string, ContentHash>

/** The facts that the summary compares, by listing, as content and ledger have them now. */
async function readFacts({ listings, evidence, tables }: Content, config: Config): Promise<Facts> {
  const paidTo = await countPayments(config)
  const names = new Map(tables.sources.map(({ id, name }) => [id, name]))
  const rows = listings.map(({ id, facts }): ContentHash => {
    const seen = evidence.get(id) ?? {}
    const paid = facts.payout.map((payout) => paidTo.get(normalizePayout(payout)) ?? 0)
    const now = {
      name: facts.name,
      url: facts.url,
      price: toPriceText(facts.pricing),
      ...toSeenFacts(planProbe(id, facts), seen),
      paid: [
        ...toUseSentences(seen, (source) => names.get(source) ?? source)
          .filter(({ isPayment }) => isPayment)
          .map(({ text }) => text),
        `${paid.reduce((sum, count) => sum + count, 0)} read on chain`,
      ].join('; '),
    }
    return { id, hash: JSON.stringify(now), fields: {}, facts: now }
  })
  return new Map(rows.map((row) => [row.id, row]))
}

function toSeenFacts(
  plan: ProbePlan | null,
  { probes = [], drift = [], interface: seen }: Evidence,
) {
  const last = newestOutcome(probes)
  const at = seen?.at ?? drift[0]?.at
  const notices =
    plan === null || at === undefined ? [] : toDriftNotices(drift, plan.declared, () => false, at)
  return {
    ...(last !== undefined && { probe: last }),
    ...Object.fromEntries(notices.map(({ id, note }) => [id, note])),
  }
}

/** Payments that the meter has read, by payee. */
async function countPayments(config: Config): Promise<Map<string, number>> {
  if (!hasLedger(config)) return new Map()
  const { openStore } = await import('../../functions/store/open-store.ts')
  await using store = await openStore(config, createStderrLog())
  const rows = await store.db
    .selectFrom('settlement')
    .select(({ fn }) => ['network', 'payee', fn.countAll<number>().as('count')])
    .groupBy(['network', 'payee'])
    .execute()
  return new Map(rows.map(({ network, payee, count }) => [`${network}:${payee}`, Number(count)]))
}

/** The facts from before a run that was stopped; null if no run was stopped. */
function readKept(file: string): Facts | null {
  if (!existsSync(file)) return null
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  const parsed = v.safeParse(v.array(ContentHashSchema), lines.map(parseJson))
  return parsed.success ? new Map(parsed.output.map((row) => [row.id, row])) : null
}

function keep(file: string, facts: Facts): Facts {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(
    `${file}.part`,
    [...facts.values()].map((row) => `${JSON.stringify(row)}\n`).join(''),
  )
  renameSync(`${file}.part`, file)
  return facts
}

interface Outcome {
  after: Facts
  differences: readonly Difference[]
  faults: readonly string[]
  isMeasured: boolean
}

function toSummary({ after, differences: all, faults, isMeasured }: Outcome): string {
  const toWords = (one: Difference) => {
    const { name, url, price } = after.get(one.id)?.facts ?? {}
    return one.change === 'added' ? `${name}, ${price}, ${url}` : describeChange(one).join('; ')
  }
  const part = (title: string, change: Difference['change']) => {
    const changed = all.filter((one) => one.change === change)
    return toPart(
      title,
      changed.map((one) => `${one.id}: ${toWords(one)}`),
    )
  }
  const amount = all.length === 0 ? 'nothing changed' : `${all.length} changed`
  const unread = isMeasured ? '' : ' No chain was read: RPC_URLS is empty.'
  return [
    '# What the refresh changed',
    `${after.size} listings; ${amount}.${unread}`,
    ...part('Added', 'added'),
    ...part('Removed', 'removed'),
    ...part('Changed', 'changed'),
    ...toPart('What failed; the rest was done', faults),
  ].join('\n\n')
}

/** The lines contain sellers' words, so each is cut to one short line that Markdown treats as text. */
function toPart(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return []
  const shown = lines.slice(0, MOST_LINES).map((line) => {
    const text = toPrintable(line, MAX_LINE).replace(/[<>[\]`@#*_|\\]/g, '\\$&')
    return `- ${text}`
  })
  const more = lines.length - shown.length
  return [
    `## ${title}: ${lines.length}`,
    [...shown, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n'),
  ]
}

if (import.meta.main) await runMain(() => runRefresh(process.argv.slice(2)))

/** `npm run refresh`; prints its summary. */
export async function runRefresh(args: readonly string[]): Promise<void> {
  const { values, words } = readCommandLine(
    HELP,
    { summary: { type: 'string' } } as const,
    SOURCE_IDS.length,
    args,
  )
  const odd = words.find((word) => !SOURCE_IDS.includes(word.split('=', 1)[0] ?? ''))
  if (odd !== undefined)
    throw wrongCommand(HELP, `expected one of ${SOURCE_IDS.join(', ')}, got ${odd}`)
  const { text, faults, end } = await refresh(words, parseConfig(process.env))
  console.log(text)
  if (values.summary !== undefined) writeFileSync(values.summary, text)
  end()
  if (faults > 0) process.exitCode = 1
}
