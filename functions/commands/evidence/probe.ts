import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { type Content, readContent } from '../../../src/content/read.ts'
import { isListingId } from '../../../src/domain/listing/listing-text.ts'
import { type ProbePlan, planProbe } from '../../../src/domain/probe/plan.ts'
import { EvidenceSchema, toEvidenceText } from '../../../src/domain/trust/evidence.ts'
import { parseJson } from '../../../src/domain/wire/json.ts'
import { OperatorError } from '../../../src/domain/wire/problems.ts'
import { createHttpClient } from '../../net/http-client.ts'
import { createResolver } from '../../net/resolver.ts'
import { type Config, parseConfig } from '../../ports/config.ts'
import { readCommandLine, runMain, untilStopped, wrongCommand } from '../../ports/run-main.ts'
import { type EvidenceKeeper, probeContent } from '../../probes/schedule.ts'
import { signFromLedger } from '../../probes/sign.ts'
import { takeFileLock } from '../../store/sqlite.ts'

type ProbeSummary = Awaited<ReturnType<typeof probeContent>>

export async function probe(args: readonly string[]): Promise<void> {
  const options = parseProbeOptions(args)
  const config = parseConfig(process.env)
  const plans = readPlans(options, config)
  using _lock = lockContent(config.STATE_DIR)
  const resolver = createResolver(config.DNS_SERVERS)
  await using client = createHttpClient('probe', { config, resolver, sign: signFromLedger(config) })
  const summary = await probeContent({
    ...options,
    evidence: createEvidenceFiles(config.CONTENT_DIR),
    plans,
    client,
    resolver,
    now: Date.now,
    signal: untilStopped(),
    onProbe: (id, { outcome, protocol, saw, status, ms }, at) =>
      console.log(
        options.isJson
          ? JSON.stringify({ id, at, protocol, outcome, status, ms, saw })
          : `${outcome.padEnd(14)} ${id}  ${saw}`,
      ),
  })
  report(summary, options.isJson)
}

function readPlans({ ids }: ProbeOptions, config: Config): ProbePlan[] {
  const content = readSoundContent(config, 'probed')
  const known = new Map(content.listings.map(({ id, facts }) => [id, facts]))
  const unknown = ids.filter((id) => !known.has(id))
  if (unknown.length > 0) throw new OperatorError(`Unknown listing: ${unknown.join(', ')}.`)
  const wanted = ids.length === 0 ? [...known.keys()] : ids
  return wanted.flatMap((id) => {
    const facts = known.get(id)
    const plan = facts === undefined ? null : planProbe(id, facts)
    return plan === null ? [] : [plan]
  })
}

/** Two runs at once would overwrite each other's files. */
function lockContent(stateDir: string) {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 })
  const lock = takeFileLock(join(stateDir, 'probe.lock'))
  if (lock === null)
    throw new OperatorError(
      `Another probe run is under way in STATE_DIR ${stateDir}: wait until it ends.`,
    )
  return lock
}

function report(summary: ProbeSummary, isJson: boolean): void {
  if (isJson) console.log(JSON.stringify({ summary }))
  else {
    const { probed, listings, not_due, held_back, outcomes, seconds } = summary
    const counts = Object.entries(outcomes).map(([outcome, count]) => `${count} ${outcome}`)
    console.log(
      `${probed} of ${listings} listings probed in ${seconds} s (${counts.sort().join(', ') || 'none'}); ${not_due} not due, ${held_back} held back`,
    )
  }
  if (summary.is_offline)
    throw new OperatorError(
      'No host answered: is this machine online? Nothing was counted against any service.',
    )
}

/** Each listing's `evidence/<prefix>/<slug>.json`. A file that is not evidence is never overwritten. */
export function createEvidenceFiles(contentDir: string): EvidenceKeeper {
  const fileOf = (id: string) => join(contentDir, 'evidence', `${id.replace('.', '/')}.json`)
  return {
    async read(id) {
      const file = fileOf(id)
      if (!existsSync(file)) return {}
      const parsed = v.safeParse(EvidenceSchema, parseJson(readFileSync(file, 'utf8')))
      if (parsed.success) return parsed.output
      const [issue] = parsed.issues
      throw new OperatorError(
        `${file}: ${v.getDotPath(issue) ?? 'the file'}: ${issue.message}. The file was not changed; see npm run check.`,
      )
    },
    /** Replaces the file in one step: a reader sees either the old evidence or the new evidence, whole. */
    async write(id, evidence) {
      const file = fileOf(id)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(`${file}.part`, toEvidenceText(evidence), { flush: true })
      await rename(`${file}.part`, file)
    },
  }
}

const HELP = `Usage: npm run probe -- [ids…] [--stale 24h] [--limit N] [--concurrency N] [--facts-only] [--json]

Probes whether listings speak their protocol, and writes the results to content/evidence.
  ids               listings to probe; if none is given, all of them
  --stale <time>    leaves out listings probed less than this long ago: 90m, 24h, 7d
  --limit <n>       probes at most n listings
  --concurrency <n> concurrent probes (16); one at a time per host, four per address
  --facts-only      keeps names, parameters and types of tools and skills, but no text that sellers wrote
  --json            one JSON object a line: each probe, then {"summary": …}

Never pays, never sends a message to an agent, never follows a redirect.`

const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const OPTIONS = {
  stale: { type: 'string', default: '0s' },
  limit: { type: 'string', default: '1000000' },
  concurrency: { type: 'string', default: '16' },
  json: { type: 'boolean', default: false },
  'facts-only': { type: 'boolean', default: false },
} as const

type ProbeOptions = ReturnType<typeof parseProbeOptions>

/** @throws UsageError saying what is wrong with the command and what would be right */
export function parseProbeOptions(args: readonly string[]) {
  const { values, words } = readCommandLine(HELP, OPTIONS, Number.POSITIVE_INFINITY, args)
  const odd = words.find((id) => !isListingId(id))
  if (odd !== undefined)
    throw wrongCommand(
      HELP,
      `expected a listing id such as mcp.harbour, got ${JSON.stringify(odd)}`,
    )
  return {
    ids: [...new Set(words)],
    staleMs: toMilliseconds(values.stale),
    limit: toCount('--limit', values.limit, 1_000_000),
    concurrency: toCount('--concurrency', values.concurrency, 256),
    isJson: values.json,
    factsOnly: values['facts-only'],
  }
}

/**
 * @param done past participle for the message, such as "probed"
 * @throws OperatorError if the content has errors
 */
export function readSoundContent(config: Config, done: string): Content {
  const { content } = readContent(config.CONTENT_DIR, { allowPrivate: config.PRIVATE_TARGETS })
  if (content !== null) return content
  throw new OperatorError(`The content has errors, so nothing was ${done}: see npm run check.`)
}

function toMilliseconds(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (unit === '')
    throw wrongCommand(HELP, `--stale: expected a time such as 24h, got ${JSON.stringify(text)}`)
  return Number(number) * (UNITS[unit] ?? 0)
}

function toCount(name: string, text: string, most: number): number {
  const number = /^\d{1,7}$/.test(text) ? Number(text) : 0
  if (number < 1 || number > most)
    throw wrongCommand(
      HELP,
      `${name}: expected a whole number from 1 to ${most}, got ${JSON.stringify(text)}`,
    )
  return number
}

// This call is at the end because it runs at once and needs everything declared above. `npm run
// probe`: exit 0 done, 1 error in content, disk or network, 2 usage error.

if (import.meta.main) await runMain(() => probe(process.argv.slice(2)))
