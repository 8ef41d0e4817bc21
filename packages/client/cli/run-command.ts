import type { LintReport, ReportTaken } from '../src/answers.ts'
import { createWaypost, type Waypost } from '../src/waypost.ts'
import { WaypostError } from '../src/waypost-error.ts'
import { runCall, runDo, runPlan, runTasks } from './call.ts'
import {
  EXIT,
  HELP,
  print,
  printJson,
  printNote,
  type Run,
  readArguments,
  readChoice,
  readSubject,
  toLine,
  toPrintable,
  UsageFault,
} from './command-line.ts'
import { runFind, runSearch, runShow } from './listings.ts'
import { runCheck, runPin } from './pins.ts'
import { runRecompute, runVerify } from './verify.ts'

const PROTOCOLS = ['x402', 'mpp', 'mcp', 'a2a', 'http'] as const
const EXITS = { clean: EXIT.ok, problems: EXIT.refused, not_reached: EXIT.unreachable } as const

/** `waypost add <url>`: proposes a service to the maintainers, who decide. */
const runAdd: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, {
    note: { type: 'string' },
    email: { type: 'string' },
  })
  const about = readSubject(positionals, 'https address')
  const { note, email } = values
  const taken = await connect(values.base).report({
    ...{ about, kind: 'new' },
    ...(note !== undefined && { text: note }),
    ...(email !== undefined && { email }),
  })
  if (values.json === true) printJson(taken)
  else print(toText(taken))
  return EXIT.ok
}

/** `waypost lint <url>`: the directory probes the service as a client would and reports. */
const runLint: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, {
    as: { type: 'string' },
    format: { type: 'string' },
    file: { type: 'string' },
  })
  const url = readSubject(positionals, 'https address')
  const as = readChoice('as', values.as, PROTOCOLS)
  const format = readChoice('format', values.format, ['text', 'github', 'sarif'] as const)
  if (format !== undefined && values.json === true)
    throw new UsageFault('expected only one of --json and --format')
  const report = await connect(values.base).lint({ url, as })
  if (values.json === true) printJson(report)
  else if (format === 'github') print(toWorkflowCommands(report))
  else if (format === 'sarif') printJson(toSarif(report, values.file ?? findBlamed()))
  else print(toReportText(report))
  return EXITS[report.verdict]
}

const COMMANDS: Readonly<Record<string, Run>> = {
  search: runSearch,
  find: runFind,
  show: runShow,
  call: runCall,
  tasks: runTasks,
  plan: runPlan,
  do: runDo,
  pin: runPin,
  check: runCheck,
  add: runAdd,
  lint: runLint,
  recompute: runRecompute,
  verify: runVerify,
}

/** @returns the process's exit code */
export async function runCommand([name = '', ...args]: readonly string[]): Promise<number> {
  const isAsking = [name, args[0] ?? ''].some((word) => word === '--help' || word === '-h')
  if (name === '' || name === 'help' || isAsking) {
    print(HELP)
    return name === '' ? EXIT.usage : EXIT.ok
  }
  const run = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  try {
    if (run === undefined) throw new UsageFault(`unknown command ${JSON.stringify(name)}`)
    return await run(args, connect)
  } catch (error) {
    return report(error)
  }
}

/** @param base from the command line; by default WAYPOST_URL, or a directory on this machine */
function connect(base: string | undefined): Waypost {
  try {
    return createWaypost({
      baseUrl: base ?? process.env.WAYPOST_URL ?? 'http://localhost:4321',
      headers: { 'user-agent': 'waypost-cli/0.1' },
    })
  } catch (error) {
    throw new UsageFault(`--base: ${error instanceof Error ? error.message : error}`)
  }
}

function report(error: unknown): number {
  if (error instanceof UsageFault) {
    printNote(`${error.message}\n\n${HELP}`)
    return EXIT.usage
  }
  if (!(error instanceof WaypostError)) throw error
  printNote(error.message)
  for (const { name, detail, allowed } of error.problem?.errors ?? []) {
    const list = allowed === undefined ? '' : ` (${allowed.join(', ')})`
    printNote(`  ${name}: ${detail}${list}`)
  }
  if (error.retryAfter !== undefined) printNote(`  try again in ${error.retryAfter} s`)
  return error.code === 'unreachable' || error.code === 'timeout' ? EXIT.unreachable : EXIT.refused
}

function toText(taken: ReportTaken): string {
  if (taken.status === 'listed') return `Listed already as ${toLine(taken.listing_id)}.`
  const { id, page } = taken
  return `Waiting for review as ${toLine(id)}; its status is shown at ${toLine(page)}`
}

function toReportText({
  target,
  took_for,
  saw,
  asked: requested,
  right,
  problems,
  verdict,
}: LintReport): string {
  const texts = [
    `${target}: ${took_for === null ? 'it spoke no known protocol' : `taken for ${took_for}`} (${saw})`,
    ...requested.map(({ method, url, came_back }) => `sent ${method} ${url}: ${came_back}`),
    ...right.map((text) => `right: ${text}`),
    ...problems.map(({ what, change }) => `to change: ${what}. ${change}`),
    { clean: 'Clean.', problems: 'There are problems.', not_reached: 'Not reached.' }[verdict],
  ]
  return texts.map(toLine).join('\n')
}

/**
 * Prints commands for a GitHub workflow's log, and nothing else: a runner would obey a command that
 * a seller hid in an ordinary line.
 */
function toWorkflowCommands(report: LintReport): string {
  const { target, took_for, saw, problems, verdict } = report
  const title = `${took_for ?? 'service'}: ${target}`
  if (verdict === 'clean') return toCommand('notice', title, `Clean: ${saw}`)
  return problems
    .map(({ what, change }) => toCommand('error', title, `${what}. ${change}`))
    .join('\n')
}

/** @example toCommand('error', 'a: b', '5%') → '::error title=a%3A b::5%25' */
function toCommand(command: 'error' | 'notice', title: string, message: string): string {
  return `::${command} title=${encode(title, /[%\r\n:,]/g)}::${encode(message, /[%\r\n]/g)}`
}

function encode(text: string, characters: RegExp): string {
  return toPrintable(text).replace(characters, encodeURIComponent)
}

/** The workflow that runs this command: code scanners show results only on files in the repository. */
function findBlamed(): string {
  const [, workflow] = /^[^/]+\/[^/]+\/([^@]+)@/.exec(process.env.GITHUB_WORKFLOW_REF ?? '') ?? []
  return workflow ?? 'README.md'
}

/**
 * SARIF 2.1.0 (OASIS). The message names the probed address.
 * @param file path of a file in the repository, relative to its root
 */
function toSarif({ target, took_for, problems, verdict }: LintReport, file: string): object {
  const uri = file.split('/').map(encodeURIComponent).join('/')
  const ruleId = took_for ?? 'service'
  const text = `How ${took_for === null ? 'a service' : `a service that speaks ${took_for}`} answers a client.`
  const driver = { name: 'waypost', rules: [{ id: ruleId, shortDescription: { text } }] }
  const results = problems.map(({ what, change }) => ({
    ...{ ruleId, ruleIndex: 0, level: 'error' },
    message: { text: toLine(`${target}: ${what}. ${change}`) },
    locations: [{ physicalLocation: { artifactLocation: { uri } } }],
  }))
  const invocations = [{ executionSuccessful: verdict !== 'not_reached' }]
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, invocations, results }],
  }
}
