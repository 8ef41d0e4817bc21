import type { ReportTaken } from '../src/answers.ts'
import { createWaypost, type Waypost } from '../src/waypost.ts'
import { WaypostError } from '../src/waypost-error.ts'
import { runCall } from './call.ts'
import {
  EXIT,
  HELP,
  print,
  printJson,
  printNote,
  type Run,
  readArguments,
  readSubject,
  toLine,
  UsageFault,
} from './command-line.ts'
import { runLint } from './lint.ts'
import { runFind, runSearch, runShow } from './listings.ts'
import { runCheck, runPin } from './pins.ts'
import { runDo, runPlan, runTasks } from './tasks.ts'
import { runRecompute, runVerify } from './verify.ts'

/** `waypost add <url>`: proposes a service to the maintainers; nothing goes live by itself. */
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

/** @returns what the process ends with */
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

/** @param base from the command line, else WAYPOST_URL, else a directory on this machine */
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
  if (error.retryAfter !== undefined) printNote(`  again in ${error.retryAfter} s`)
  return error.code === 'unreachable' || error.code === 'timeout' ? EXIT.unreachable : EXIT.refused
}

function toText(taken: ReportTaken): string {
  if (taken.status === 'listed') return `Listed already as ${toLine(taken.listing_id)}.`
  const { id, page } = taken
  return `Waiting for a maintainer as ${toLine(id)}; see what became of it at ${toLine(page)}`
}
