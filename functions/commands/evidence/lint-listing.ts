import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { faultOf, formatFault } from '../../../src/content/faults.ts'
import { createListingParser, MAX_FILE_BYTES } from '../../../src/content/listing-file.ts'
import {
  findUrlFault,
  type UrlRules,
  withAsciiHosts,
} from '../../../src/domain/listing/target-url.ts'
import { planProbe } from '../../../src/domain/probe/plan.ts'
import type { LintProblem, LintReport } from '../../../src/domain/sellers/lint.ts'
import { PROBE_PROTOCOLS } from '../../../src/domain/wire/vocabulary.ts'
import { createHttpClient, type HttpClient } from '../../net/http-client.ts'
import { createResolver } from '../../net/resolver.ts'
import { type Config, parseConfig } from '../../ports/config.ts'
import { readCommandLine, runMain, wrongCommand } from '../../ports/run-main.ts'
import { lintPlan, lintUrl } from '../../probes/lint.ts'
import { signFromLedger } from '../../probes/sign.ts'

const HELP = `Usage: npm run lint:listing -- <file|url> [--as ${PROBE_PROTOCOLS.join('|')}] [--json]

Prints what was sent, what came back, what is right and what to change.
Exit: 0 clean, 1 problems, 2 the command was wrong, 3 not reached.`

const EXIT = { clean: 0, problems: 1, not_reached: 3 } as const

/** `npm run lint:listing`; sets the exit code. */
export async function runLint(args: readonly string[]): Promise<void> {
  const command = readCommand(args)
  const config = parseConfig(process.env)
  await using client = createHttpClient('probe', {
    config,
    resolver: createResolver(config.DNS_SERVERS),
    sign: signFromLedger(config),
  })
  const report = await lint(command, config, client)
  console.log(command.isJson ? JSON.stringify(report) : toText(report))
  process.exitCode = EXIT[report.verdict]
}

type Command = ReturnType<typeof readCommand>

function readCommand(args: readonly string[]) {
  const options = { as: { type: 'string' }, json: { type: 'boolean' } } as const
  const { values, words } = readCommandLine(HELP, options, 1, args)
  const as = PROBE_PROTOCOLS.find((protocol) => protocol === values.as)
  if (values.as !== undefined && as === undefined)
    throw wrongCommand(HELP, `--as: expected a protocol, got ${JSON.stringify(values.as)}`)
  const [target] = words
  if (target === undefined) throw wrongCommand(HELP, 'expected one file or URL')
  return { target, as, isJson: values.json ?? false }
}

async function lint(
  { target: typed, as }: Command,
  config: Config,
  client: HttpClient,
): Promise<LintReport> {
  const target = withAsciiHosts(typed)
  const rules = { allowPrivate: config.PRIVATE_TARGETS }
  if (/^https?:/i.test(target)) {
    const fault = findUrlFault(target, rules)
    if (fault !== null) throw wrongCommand(HELP, `${target}: ${fault}`)
    return lintUrl(target, as, client, Date.now)
  }
  if (!existsSync(target)) throw wrongCommand(HELP, `${target}: neither a file nor an http(s) URL`)
  return lintListing(target, rules, client)
}

/**
 * Checks the file first and then, if the file is valid, the service against the file. Checks that
 * need the whole content (sources, categories, duplicates) are left to `check`.
 */
async function lintListing(file: string, rules: UrlRules, client: HttpClient): Promise<LintReport> {
  const id = `${basename(dirname(file))}.${basename(file, '.md')}`
  const text = readFileSync(file, 'utf8')
  const isLong = Buffer.byteLength(text) > MAX_FILE_BYTES
  const tooLong = faultOf(file, `expected at most ${MAX_FILE_BYTES} bytes`, { line: 1 })
  const { listing = null, faults } = isLong
    ? { faults: [tooLong] }
    : createListingParser(rules)({ id: file, file }, text)
  const own = faults.map((fault) => ({
    what: formatFault(fault, '.'),
    change: 'Correct the file as the message says; npm run check checks the whole content.',
  }))
  if (listing === null) return toUnreadable(file, own)
  const plan = planProbe(id, listing.facts)
  if (plan === null) return { ...toUnreadable(file, own), saw: 'a listing that is not probed' }
  const declared = listing.facts.http.flatMap(({ method, url, response }) =>
    response === undefined ? [] : [{ method, url, response }],
  )
  return lintPlan(file, plan, client, Date.now, { own, declared })
}

function toUnreadable(file: string, problems: LintProblem[]): LintReport {
  const verdict = problems.length > 0 ? 'problems' : 'clean'
  const nothing = { took_for: null, asked: [], right: [] }
  return { target: file, saw: 'a listing file', problems, verdict, ...nothing }
}

function toText({
  target,
  took_for,
  saw,
  asked: requested,
  right,
  problems,
  verdict,
}: LintReport): string {
  const list = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)]
  return [
    `${target}: ${took_for === null ? 'it spoke none of the protocols' : `taken for ${took_for}`} (${saw})`,
    ...list(
      'Sent, and what came back',
      requested.map((step) => `${step.method} ${step.url}\n    ${step.came_back}`),
    ),
    ...list('Right', right),
    ...list(
      'To change',
      problems.map(({ what, change }) => `${what}\n    ${change}`),
    ),
    '',
    { clean: 'Clean.', problems: 'There are problems.', not_reached: 'Not reached.' }[verdict],
  ].join('\n')
}

if (import.meta.main) await runMain(() => runLint(process.argv.slice(2)))
