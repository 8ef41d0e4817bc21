import {
  type Attempt,
  type AttemptEnd,
  askSeller,
  type DoOptions,
  type PlanRow,
  type Turn,
} from './seller-turn.ts'
import { createSession, type Session, type Standing, sumUsd } from './spending.ts'
import type { Waypost } from './waypost.ts'
import { WaypostError } from './waypost-error.ts'

export interface DoneTask {
  deed: string
  /** Null where no seller delivered. */
  output: Record<string, unknown> | null
  seller: string | null
  attempts: Attempt[]
  /** What was paid or may have been, over all attempts. */
  spent_usd: number
}

const MAX_SELLERS = 5
/** A price this far above the plan's is rounding, not another price. */
const SAME_PRICE = 1.001

/**
 * Gets a task done by any of its sellers: the first of the plan is asked for its price without
 * payment, paid within the budget, and its answer checked against the task's contract; where it
 * fails, the next one gets its turn. No seller is paid twice for one deed. One that asks more than
 * the plan says moves to where its price belongs; one that failed in this session comes last.
 *
 * @throws WaypostError where the directory does not know the task or refuses the input
 */
export async function doTask(
  waypost: Waypost,
  task: string,
  input: Record<string, unknown>,
  options: DoOptions = {},
): Promise<DoneTask> {
  const { pay, rail, network, session = createSession() } = options
  const deed = options.deed ?? crypto.randomUUID()
  const { output: contract } = await waypost.task(task)
  if (contract === undefined)
    throw new WaypostError('no-contract', `${task} has no contract yet, so no plan.`)
  const filters = { rail, network, max_price_usd: pay?.maxUsd ?? 0, limit: MAX_SELLERS }
  const { rows } = await waypost.plan(task, input, filters)
  const turn: Turn = { deed, task, contract, session, options, spent: [], baseUrl: waypost.baseUrl }
  const paidBefore = await session.paidIn(deed)
  const queue = await inOrder(
    rows.filter(({ seller }) => !paidBefore.has(seller.id)),
    session,
    task,
  )
  return takeTurns(turn, queue)
}

/** Those that failed here before come last; otherwise the plan's order. */
async function inOrder(rows: readonly PlanRow[], session: Session, task: string) {
  const standings = await session.standings(task)
  const failed = (row: PlanRow) => Number(standings.get(row.seller.id) === 'failed')
  return [...rows].sort((a, b) => failed(a) - failed(b))
}

async function takeTurns(turn: Turn, rows: readonly PlanRow[]): Promise<DoneTask> {
  const attempts: Attempt[] = []
  const queue = rows.map((row) => ({ row, mostUsd: (row.usd ?? UNKNOWN_PRICE) * SAME_PRICE }))
  let output: Record<string, unknown> | null = null
  for (let next = queue.shift(); next !== undefined && output === null; next = queue.shift()) {
    const { row, mostUsd } = next
    const { asked, output: found = null, ...attempt } = await askSeller(turn, row, mostUsd)
    output = found
    attempts.push(attempt)
    turn.options.onAttempt?.(attempt)
    const standing = STANDINGS[attempt.end]
    if (standing !== undefined) await turn.session.remember(row.seller.id, turn.task, standing)
    if (asked === undefined) continue
    // It may still be the cheapest: it gets its turn again before those that cost more.
    const place = queue.findIndex((other) => other.mostUsd > asked)
    queue.splice(place < 0 ? queue.length : place, 0, { row, mostUsd: asked })
  }
  const seller = output === null ? null : (attempts.at(-1)?.seller ?? null)
  const spent = attempts.flatMap(({ usd, paid }) => (paid === 'no' ? [] : [usd]))
  return { deed: turn.deed, output, seller, attempts, spent_usd: sumUsd(spent) }
}

const UNKNOWN_PRICE = Number.POSITIVE_INFINITY

/** What an outcome says about the seller; nothing for the caller's faults or a mere price. */
const STANDINGS: Readonly<Partial<Record<AttemptEnd, Standing>>> = {
  delivered: 'delivered',
  unreachable: 'failed',
  timeout: 'failed',
  refused: 'failed',
  no_terms: 'failed',
  payment_asked_again: 'failed',
  wrong_answer: 'failed',
  cut_off: 'failed',
}
