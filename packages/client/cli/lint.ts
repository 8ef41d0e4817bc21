import type { LintReport } from '../src/generated/answers.ts'
import { EXIT, type Run, readArguments, readChoice, readSubject } from './command-line.ts'
import { printJson, toLine } from './printable.ts'

const PROTOCOLS = ['x402', 'mpp', 'mcp', 'a2a', 'http'] as const
const EXITS = { clean: EXIT.ok, problems: EXIT.refused, not_reached: EXIT.unreachable } as const

/** `waypost lint <url>`: the directory asks the service as a client would, and says what it saw. */
export const runLint: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, { as: { type: 'string' } })
  const url = readSubject(positionals, 'https address')
  const as = readChoice('as', values.as, PROTOCOLS)
  const report = await connect(values.base).lint({ url, as })
  if (values.json === true) printJson(report)
  else console.log(toText(report))
  return EXITS[report.verdict]
}

function toText({ target, took_for, saw, asked, right, problems, verdict }: LintReport): string {
  const texts = [
    `${target}: ${took_for === null ? 'no protocol spoke' : `taken for ${took_for}`} (${saw})`,
    ...asked.map(({ method, url, came_back }) => `sent ${method} ${url}: ${came_back}`),
    ...right.map((text) => `right: ${text}`),
    ...problems.map(({ what, change }) => `to change: ${what}. ${change}`),
    { clean: 'Clean.', problems: 'There are problems.', not_reached: 'Not reached.' }[verdict],
  ]
  return texts.map(toLine).join('\n')
}
