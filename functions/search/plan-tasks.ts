import { NETWORK_NAMES, toNetworkId } from '../../src/domain/listing/networks.ts'
import {
  MAX_PLAN_ROWS,
  PLAN_ROWS,
  type PlanQuestion,
  planTask,
  type TaskPlan,
} from '../../src/domain/plans/task-plan.ts'
import { membersOf, PLAN_PARAMETERS, type Task } from '../../src/domain/tasks/task.ts'
import { readTaskInput } from '../../src/domain/tasks/task-input.ts'
import { findNearestName } from '../../src/domain/wire/text.ts'
import { RAILS } from '../../src/domain/wire/vocabulary.ts'
import type { Handler, Parts } from '../features/feature.ts'
import { createCountedGet } from '../features/routes.ts'
import { findNameErrors, type InputError, toQueryError } from '../http/answers.ts'

/** A plan, the errors in the query, or that the task does not exist. */
type PlanReply = { plan: TaskPlan } | { problems: InputError[] } | { unknown: string }
type PlanTask = (id: string, query: URLSearchParams) => Promise<PlanReply>

/** Plans over the current release. */
export function createPlanTask({ release, config }: Pick<Parts, 'release' | 'config'>): PlanTask {
  return async (id, query) => {
    const tasks = await release().protocolData.tasks()
    const found = tasks.get(id)
    if (found === undefined) return { unknown: toUnknownText(id, [...tasks.keys()]) }
    const requested = readQuestion(found.task, query)
    if ('problems' in requested) return requested
    return { plan: planTask(found.task, found.sellers, requested, config.BASE_URL) }
  }
}

function toUnknownText(id: string, known: readonly string[]): string {
  const nearest = findNearestName(id, known)
  const hint = nearest === null ? '/api/v1/tasks lists them' : `did you mean ${nearest}?`
  return `No task with a contract has this id; ${hint}`
}

function readQuestion(
  task: Task,
  query: URLSearchParams,
): PlanQuestion | { problems: InputError[] } {
  const known = [...membersOf(task.input), ...PLAN_PARAMETERS]
  const read = readTaskInput(task, new Map(query))
  const rail = query.get('rail')
  const network = query.get('network')
  const price = query.get('max_price_usd')
  const limit = query.get('limit') ?? String(PLAN_ROWS)
  const networkId = network === null ? undefined : toNetworkId(network)
  const problems = [
    ...findNameErrors(query, known),
    ...('faults' in read ? read.faults.map(({ name, detail }) => toQueryError(name, detail)) : []),
    ...(rail === null || RAILS.some((each) => each === rail)
      ? []
      : [toQueryError('rail', 'expected x402 or mpp', RAILS)]),
    ...(networkId === null
      ? [toQueryError('network', 'expected a CAIP-2 id or a common name', NETWORK_NAMES)]
      : []),
    ...(price === null || /^\d{1,9}(?:\.\d{1,9})?$/.test(price)
      ? []
      : [toQueryError('max_price_usd', 'expected a number of at least 0')]),
    ...(/^[1-9]$/.test(limit) && Number(limit) <= MAX_PLAN_ROWS
      ? []
      : [toQueryError('limit', `expected a whole number from 1 to ${MAX_PLAN_ROWS}`)]),
  ]
  if (problems.length > 0 || 'faults' in read) return { problems }
  return {
    input: read.input,
    max_price_usd: price === null ? undefined : Number(price),
    rail: RAILS.find((each) => each === rail),
    network: networkId ?? undefined,
    limit: Number(limit),
  }
}

/** `GET /api/v1/tasks/<id>/plan?<members of the input>`. */
export function createPlan(
  parts: Pick<Parts, 'problem' | 'release' | 'limits' | 'config'>,
): Handler {
  const plan = createPlanTask(parts)
  return createCountedGet(parts, async (query, { context }) => {
    const reply = await plan(context.params?.task_id ?? '', new URLSearchParams(query))
    if ('unknown' in reply) return parts.problem('not-found', { detail: reply.unknown })
    return 'plan' in reply ? { view: reply.plan } : reply
  })
}
