import type { ProposalBody, Proposed } from '../src/generated/answers.ts'
import { EXIT, type Run, readArguments, readChoice, readSubject } from './command-line.ts'
import { printJson, toLine } from './printable.ts'

const KINDS = ['http_api', 'mcp_server', 'a2a_agent'] as const satisfies ProposalBody['kind'][]

/** `waypost add <url>`: puts a service before the maintainers; nothing goes live by itself. */
export const runAdd: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, {
    kind: { type: 'string' },
    note: { type: 'string' },
    email: { type: 'string' },
  })
  const url = readSubject(positionals, 'https address')
  const kind = readChoice('kind', values.kind, KINDS)
  const { note, email } = values
  const proposed = await connect(values.base).propose({
    url,
    ...(kind !== undefined && { kind }),
    ...(note !== undefined && { note }),
    ...(email !== undefined && { email }),
  })
  if (values.json === true) printJson(proposed)
  else console.log(toText(proposed))
  return EXIT.ok
}

function toText(proposed: Proposed): string {
  if (proposed.status === 'listed') return `Listed already as ${toLine(proposed.listing_id)}.`
  const { id, page, found } = proposed
  return [
    `Waiting for a maintainer as ${toLine(id)}; see what became of it at ${toLine(page)}`,
    toLine(`found: ${found.saw}`),
  ].join('\n')
}
