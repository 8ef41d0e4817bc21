import { EXIT, type Run, readArguments, readSubject } from './command-line.ts'
import { printJson } from './printable.ts'

/** `waypost add <url>`: puts a service before the maintainers; nothing goes live by itself. */
export const runAdd: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, {
    kind: { type: 'string' },
    note: { type: 'string' },
    email: { type: 'string' },
  })
  const url = readSubject(positionals, 'https address')
  const { kind, note, email } = values
  printJson(await connect(values.base).propose({ url, kind, note, email }))
  return EXIT.ok
}
