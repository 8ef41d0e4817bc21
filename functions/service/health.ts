import type { Parts } from '../features/feature.ts'
import { type Clock, within } from '../ports/clock.ts'
import type { Store } from '../store/store.ts'

/** The store must answer a read within this (milliseconds) to count as ready. */
const STORE_DEADLINE_MS = 2_000

/** How long a successful write is trusted before the next (milliseconds): anybody may ask. */
const TRUSTED_MS = 1_000

type HealthParts = Pick<Parts, 'ledger' | 'problem' | 'log' | 'clock' | 'release'>

const HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }

/** `GET /healthz`: the process answers. A store that is down is not a reason to restart it. */
export function answerHealthz(): Response {
  return new Response('{"status":"ok"}', { headers: HEADERS })
}

/**
 * `GET /readyz`: the store takes writes too, so a balancer may send requests here; and how old the
 * facts of the release are, for those who build daily.
 */
export function createReadyz({ ledger, problem, log, clock, release }: HealthParts) {
  const findFault = createStoreCheck(() => ledger.store.ping(), clock)
  let logged: string | null = null
  return async function readyz(): Promise<Response> {
    const fault = await findFault()
    if (fault !== null && fault !== logged) log.error('store.not_ready', { reason: fault })
    logged = fault
    const { written, lost, waiting } = ledger.clicks.tally()
    if (fault !== null) {
      return problem('store-unavailable', {
        detail: `${toAdvice(fault)} Pages, search and redirects go on; seller routes wait.`,
        extra: { clicks: { written, lost, waiting } },
      })
    }
    const { ages } = release().searchChoices
    const clicks = { written, lost, waiting }
    const body = { status: 'ok', store: ledger.store.dialect, clicks, ages }
    return new Response(JSON.stringify(body), { headers: HEADERS })
  }
}

function createStoreCheck(ping: Store['ping'], clock: Clock) {
  let requested: Promise<string | null> | null = null
  let tookWriteAt = Number.NEGATIVE_INFINITY
  const ask = async () => {
    const fault = await findFault(ping)
    requested = null
    if (fault === null) tookWriteAt = clock.now()
    return fault
  }
  return async (): Promise<string | null> => {
    const age = clock.now() - tookWriteAt
    if (age >= 0 && age < TRUSTED_MS) return null
    requested ??= ask()
    return requested
  }
}

/** @returns why the store takes no writes; null where it does */
function findFault(ping: Store['ping']): Promise<string | null> {
  return within(STORE_DEADLINE_MS, ping()).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
}

/** The driver's message may name hosts and folders: it goes only to the log. */
function toAdvice(fault: string): string {
  return /disk is full|No space left/i.test(fault)
    ? 'The disk of the store is full: make room.'
    : 'The store takes no writes; the log says why.'
}
