import { createCountedGet } from '../parts/counted-get.ts'
import type { Handler, Parts } from '../parts/parts.ts'
import { createPlanTask } from './plan-tasks.ts'

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
