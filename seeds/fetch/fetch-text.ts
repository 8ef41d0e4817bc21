/** Answers worth a second try: too many requests, and a server's own trouble. */
const RETRIED = [408, 429, 500, 502, 503, 504]
const MAX_TRIES = 4
const MAX_REDIRECTS = 3
const MAX_WAIT_MS = 30_000

export interface FetchOptions {
  /** Bytes of one answer, decompressed. */
  maxBytes: number
  /** For one try, body included. */
  timeoutMs: number
  /** First pause; doubles with each try. Injected so that tests don't wait. */
  retryMs: number
}

/**
 * GET of a text, bounded in bytes, time, tries and redirects; a redirect to another origin is
 * refused, since the answer would be somebody else's.
 *
 * @throws Error that names the address, what came, and what was expected.
 */
export async function fetchText(url: URL, options: FetchOptions): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const result = await tryFetch(url, options)
    if ('text' in result) return result.text
    if (!result.isPassing || attempt === MAX_TRIES)
      throw new Error(`${url.href}: ${result.fault}${attempt > 1 ? ` (${attempt} tries)` : ''}`)
    const pause = result.retryAfterMs ?? options.retryMs * 2 ** (attempt - 1)
    // Asking earlier than told is what gets an importer shut out for good.
    if (pause > MAX_WAIT_MS)
      throw new Error(
        `${url.href}: ${result.fault}, and to be asked again in ${Math.ceil(pause / 1000)} s; try later`,
      )
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

type Try = { text: string } | { fault: string; isPassing: boolean; retryAfterMs?: number }

async function tryFetch(start: URL, { maxBytes, timeoutMs }: FetchOptions): Promise<Try> {
  const signal = AbortSignal.timeout(timeoutMs)
  let url = start
  try {
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const answer = await fetch(url, {
        signal,
        redirect: 'manual',
        headers: {
          accept: 'application/json, application/x-ndjson',
          'user-agent': 'directory-seed/0.1',
        },
      })
      if (answer.status === 200) return await readBounded(answer, maxBytes)
      const location = answer.headers.get('location')
      await answer.body?.cancel()
      if (answer.status < 300 || answer.status > 399 || location === null) return toFault(answer)
      const next = URL.parse(location, url)
      if (next === null || next.origin !== start.origin)
        return { fault: `expected no redirect to another host, got ${location}`, isPassing: false }
      url = next
    }
    return { fault: `expected at most ${MAX_REDIRECTS} redirects`, isPassing: false }
  } catch (error) {
    return { fault: describe(error, timeoutMs), isPassing: true }
  }
}

function toFault({ status, headers }: Response): Try {
  const fault = `expected status 200, got ${status}`
  const isPassing = RETRIED.includes(status)
  const retryAfterMs = readRetryAfter(headers.get('retry-after'))
  return retryAfterMs === null ? { fault, isPassing } : { fault, isPassing, retryAfterMs }
}

/** Seconds or a date (RFC 9110). */
function readRetryAfter(text: string | null): number | null {
  if (text === null) return null
  const seconds = Number(text)
  if (text.trim() !== '' && Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : null
  const time = Date.parse(text)
  return Number.isNaN(time) ? null : Math.max(0, time - Date.now())
}

async function readBounded(answer: Response, maxBytes: number): Promise<Try> {
  const decoder = new TextDecoder('utf-8')
  let text = ''
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes)
      return { fault: `expected at most ${maxBytes} bytes, got more`, isPassing: false }
    text += decoder.decode(chunk, { stream: true })
  }
  return { text: text + decoder.decode() }
}

function describe(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return 'no answer'
  if (error.name === 'TimeoutError') return `expected an answer within ${timeoutMs / 1000} s`
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `no answer (${error.message}${cause})`
}
