import type { TaskPlan } from '../src/answers.ts'
import { EXIT, type Run, readArguments, readNumber } from './command-line.ts'
import { readTask } from './do.ts'
import { printJson, toLine } from './printable.ts'

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
  const lines = [
    ...plan.rows.map(toText),
    ...plan.notes.map(toLine),
    `${plan.rows.length} of ${plan.total}`,
  ]
  if (values.json === true) printJson(plan)
  else console.log(lines.join('\n'))
  return EXIT.ok
}

/** `waypost tasks`: the tasks that can be planned. */
export const runTasks: Run = async (args, connect) => {
  const { values } = readArguments(args, {})
  const answer = await connect(values.base).tasks()
  const planned = answer.tasks.filter(({ plan }) => plan !== undefined)
  if (values.json === true) printJson(answer)
  else
    for (const { id, name, sellers, example } of planned)
      console.log(toLine(`${id}  ${name} · ${sellers} sellers · ${JSON.stringify(example)}`))
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
  return `${toLine(seller.id)}  ${facts.filter(Boolean).join(' · ')}\n    ${toLine(`${request.method} ${request.url}`)}${sent}`
}
