import { isJsonObject, parseJson } from '../../../src/domain/wire/json.ts'
import { RAILS } from '../../../src/domain/wire/vocabulary.ts'
import type { TaskPlan } from '../src/answers.ts'
import { type Attempt, doTask } from '../src/do-task.ts'
import { readPay, toVerifyText } from './call.ts'
import {
  EXIT,
  print,
  printJson,
  printNote,
  type Run,
  readArguments,
  readChoice,
  readNumber,
  toLine,
  UsageFault,
} from './command-line.ts'

/** `waypost tasks`: the tasks that can be planned. */
export const runTasks: Run = async (args, connect) => {
  const { values } = readArguments(args, {})
  const answer = await connect(values.base).tasks()
  const planned = answer.tasks.filter(({ plan }) => plan !== undefined)
  if (values.json === true) printJson(answer)
  else
    for (const { id, name, sellers, example } of planned)
      print(toLine(`${id}  ${name} · ${sellers} sellers · ${JSON.stringify(example)}`))
  return EXIT.ok
}

/** `waypost plan <task> '<input JSON>'`: the sellers to call, in order, with their requests. */
export const runPlan: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, {
    'max-price-usd': { type: 'string' },
    rail: { type: 'string' },
    network: { type: 'string' },
    limit: { type: 'string' },
  })
  const { task, input } = readTask(positionals)
  const plan = await connect(values.base).plan(task, input, {
    max_price_usd: readNumber('max-price-usd', values['max-price-usd']),
    limit: readNumber('limit', values.limit),
    rail: values.rail,
    network: values.network,
  })
  const { rows, notes, total } = plan
  if (values.json === true) printJson(plan)
  else print(rows.map(toText), notes.map(toLine), `${rows.length} of ${total}`)
  return EXIT.ok
}

function toText({
  seller,
  request,
  usd,
  per,
  offers = [],
  ignores = [],
}: TaskPlan['rows'][number]) {
  const facts = [
    usd === null ? 'price unknown' : usd === 0 ? 'free' : `$${usd} a ${per ?? 'call'}`,
    [...new Set(offers.map(({ rail }) => rail))].join('+'),
    ignores.length === 0 ? '' : `has no place for ${ignores.join(', ')}`,
  ]
  const sent = request.body === undefined ? '' : `\n    ${toLine(JSON.stringify(request.body))}`
  return `${toLine(`${seller.id}  ${facts.filter(Boolean).join(' · ')}`)}\n    ${toLine(`${request.method} ${request.url}`)}${sent}`
}

/** `waypost do <task> '<input JSON>'`: the output on stdout, sellers and payments on stderr. */
export const runDo: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, {
    wallet: { type: 'string' },
    'max-usd': { type: 'string' },
    'max-bytes': { type: 'string' },
    rail: { type: 'string' },
    network: { type: 'string' },
  })
  const { task, input } = readTask(positionals)
  const done = await doTask(connect(values.base), task, input, {
    pay: await readPay(values),
    rail: readChoice('rail', values.rail, RAILS),
    network: values.network,
    maxBytes: readNumber('max-bytes', values['max-bytes']),
    onAttempt: (attempt) => printNote(toNotes(attempt)),
  })
  printNote(`spent $${done.spent_usd}`)
  if (values.json === true) printJson(done)
  else if (done.output !== null) printJson(done.output)
  if (done.output === null) printNote('No seller delivered.')
  return done.output === null ? EXIT.refused : EXIT.ok
}

function toNotes({ seller, end, usd, paid, detail, call_receipt }: Attempt): string[] {
  const money =
    paid === 'no' ? 'nothing paid' : `$${usd} ${paid === 'paid' ? 'paid' : 'may have been paid'}`
  const why = detail ? ` (${detail})` : ''
  const ended = toLine(`${seller}: ${end.replaceAll('_', ' ')}, ${money}${why}`)
  return call_receipt === undefined ? [ended] : [ended, toVerifyText(call_receipt)]
}

/** The task and its input, as the first two words of `plan` and `do`. */
function readTask(positionals: readonly string[]) {
  const [task, text = '{}', ...others] = positionals
  if (task === undefined || others.length > 0)
    throw new UsageFault(`expected a task and its input as JSON, got ${positionals.length} words`)
  const input = parseJson(text)
  if (!isJsonObject(input))
    throw new UsageFault(
      `expected the input as a JSON object such as '{"query":"tides"}', got ${JSON.stringify(text)}`,
    )
  return { task, input }
}
