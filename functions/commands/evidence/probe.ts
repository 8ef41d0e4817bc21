import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import type { ProbePlan } from '../../../src/domain/probe/plan.ts'
import { planProbe } from '../../../src/domain/probe/plan.ts'
import { EvidenceSchema, toEvidenceText } from '../../../src/domain/trust/evidence.ts'
import { parseJson } from '../../../src/domain/wire/json.ts'
import { OperatorError } from '../../../src/domain/wire/problems.ts'
import { createHttpClient } from '../../net/http-client.ts'
import { createResolver } from '../../net/resolver.ts'
import { type Config, parseConfig } from '../../ports/config.ts'
import { runMain, untilStopped } from '../../ports/run-main.ts'
import { type EvidenceKeeper, type ProbeSummary, probeContent } from '../../probes/schedule.ts'
import { signFromLedger } from '../../probes/sign.ts'
import { takeFileLock } from '../../store/lock.ts'
import { type ProbeOptions, parseProbeOptions, readSoundContent } from './probe-options.ts'

/** `npm run probe`: exit 0 done, 1 error in content, disk or network, 2 usage error. */
if (import.meta.main) await runMain(() => probe(process.argv.slice(2)))

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

/** Two runs at once would write each other's files. */
function lockContent(stateDir: string) {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 })
  const lock = takeFileLock(join(stateDir, 'probe.lock'))
  if (lock === null)
    throw new OperatorError(`Another probe run is under way in STATE_DIR ${stateDir}.`)
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
      'No host answered: is this machine online? Nothing counts against anybody.',
    )
}

/** `evidence/<prefix>/<slug>.json` of each listing. A file that is not evidence is never overwritten. */
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
        `${file}: ${v.getDotPath(issue) ?? 'the file'}: ${issue.message}. It is left as it is; see npm run check.`,
      )
    },
    /** Replaces the file in one step: a reader sees the old evidence or the new one, whole. */
    async write(id, evidence) {
      const file = fileOf(id)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(`${file}.part`, toEvidenceText(evidence), { flush: true })
      await rename(`${file}.part`, file)
    },
  }
}
