import type { TaskPlan } from './answers.ts'

type Asked = Pick<TaskPlan['rows'][number], 'request' | 'relay_url'>

interface Caller {
  /** Of the directory that named the address. */
  baseUrl: string
  options: { fetch?: typeof fetch; signal?: AbortSignal }
}

export interface Sent {
  response: Response
  /** Ends the time limit, which holds until the answer is read. */
  stop: () => void
}

/** One request to a seller, without or with a payment; its time limit holds until the answer is read. */
export async function send(
  caller: Caller,
  { request, relay_url }: Asked,
  payment: Record<string, string>,
  timeoutMs: number,
): Promise<Sent | { failed: 'unreachable' | 'timeout'; detail: string }> {
  const { method, headers, body } = request
  const url = relay_url ?? request.url
  const { fetch: ask = fetch, signal } = caller.options
  const patience = new AbortController()
  const timer = setTimeout(() => patience.abort(), timeoutMs)
  try {
    if (!mayAsk(url, caller.baseUrl)) throw new Error(`${url} is not an https address`)
    const response = await ask(url, {
      method,
      // A payment never follows a seller to another address.
      redirect: 'manual',
      headers: {
        accept: 'application/json, */*;q=0.5',
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
        ...payment,
      },
      ...(body !== undefined && { body: toBody(headers, body) }),
      signal: signal === undefined ? patience.signal : AbortSignal.any([signal, patience.signal]),
    })
    return { response, stop: () => clearTimeout(timer) }
  } catch (cause) {
    clearTimeout(timer)
    if (signal?.aborted === true) throw signal.reason
    if (patience.signal.aborted)
      return { failed: 'timeout', detail: `no answer within ${timeoutMs} ms` }
    const inner = cause instanceof Error ? (cause.cause ?? cause) : cause
    return { failed: 'unreachable', detail: inner instanceof Error ? inner.message : String(inner) }
  }
}

/** A directory may name any address: only one on this machine may name others without TLS. */
function mayAsk(url: string, baseUrl: string): boolean {
  return url.startsWith('https://') || new URL(baseUrl).protocol === 'http:'
}

function toBody(headers: Record<string, string> | undefined, body: unknown): string {
  const type = headers?.['Content-Type'] ?? ''
  if (type !== 'application/x-www-form-urlencoded') return JSON.stringify(body)
  return String(new URLSearchParams(Object.entries(Object(body)).map(([k, v]) => [k, String(v)])))
}
