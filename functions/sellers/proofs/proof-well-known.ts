import { type Dispatcher, request } from 'undici'
import { ownerDomainOf, type SharedHosts } from '../../../src/domain/owners/shared-hosts.ts'
import { AddressRefusedError, createGuardedAgent } from '../../call/guard.ts'
import type { Parts } from '../../parts/parts.ts'
import { wellKnownUrl } from './claim-instructions.ts'
import { type Proof, type ProofReason, type ProofRequest, showObserved } from './proof.ts'

/** Size of the file, time for the whole proof; redirects stay within the domain. */
const MAX_BYTES = 4096
const DEADLINE_MS = 10_000
const MAX_REDIRECTS = 3

/** What one look at the file came to, before it is put into a seller's words. */
type Sight =
  | { found: true }
  | { found: false; reason: ProofReason; observed: string | null; next: string }

export function proveByWellKnown({
  config,
  resolver,
  release,
}: Pick<Parts, 'config' | 'resolver' | 'release'>) {
  const allowPrivate = config.PRIVATE_TARGETS
  return async function byWellKnown({ host, token }: ProofRequest): Promise<Proof> {
    const url = wellKnownUrl(host)
    const expected = `${url} answers 200 with a text file that has the line ${token}`
    const dispatcher = createGuardedAgent({ resolver, allowPrivate })
    try {
      const { sharedHosts } = release()
      const signal = AbortSignal.timeout(DEADLINE_MS)
      const sight = await look({ url, token, dispatcher, signal, sharedHosts })
      if (!sight.found) {
        const { reason, observed, next } = sight
        return { verified: false, expected, observed, reason, next }
      }
      const next = 'Nothing: the listing is yours. Leave the file in place.'
      return { verified: true, expected, observed: token, reason: null, next }
    } catch (error) {
      return { verified: false, expected, ...explain(error, url) }
    } finally {
      // Not close(): a seller that drips bytes would hold it open.
      void dispatcher.destroy()
    }
  }
}

interface Look {
  url: string
  token: string
  dispatcher: Dispatcher
  signal: AbortSignal
  sharedHosts: SharedHosts
}

async function look({ url, token, dispatcher, signal, sharedHosts }: Look): Promise<Sight> {
  let target = url
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const answer = await request(target, {
      dispatcher,
      signal,
      // Compressed answers could be small on the wire and huge in memory.
      headers: {
        accept: 'text/plain',
        'accept-encoding': 'identity',
        'user-agent': 'Directory-Claim/1',
      },
    })
    if (answer.statusCode < 300 || answer.statusCode > 399) return judgeAnswer(answer, token)
    const next = URL.parse(String(answer.headers.location ?? ''), target)
    if (next === null || !isWithin(url, next, sharedHosts)) {
      return missed(
        'redirected_elsewhere',
        `status ${answer.statusCode}, location ${answer.headers.location ?? 'none'}`,
        'Serve the file itself; a redirect may lead only to the same domain over https.',
      )
    }
    target = next.href
  }
  return missed(
    'redirected_elsewhere',
    `more than ${MAX_REDIRECTS} redirects`,
    'Serve the file without redirects.',
  )
}

/** The same registrable domain over https, or, in trials without https, the very same origin. */
function isWithin(start: string, next: URL, sharedHosts: SharedHosts): boolean {
  const from = new URL(start)
  if (next.origin === from.origin) return true
  const domain = ownerDomainOf(from.hostname, sharedHosts)
  const isSameDomain = domain !== null && domain === ownerDomainOf(next.hostname, sharedHosts)
  const isPlain = next.port === '' && next.username === '' && next.password === ''
  return next.protocol === 'https:' && isPlain && isSameDomain
}

async function judgeAnswer(answer: Dispatcher.ResponseData, token: string): Promise<Sight> {
  const { statusCode, headers, body } = answer
  const type = String(headers['content-type'] ?? 'no content type')
  const text = await readStart(body)
  const observed = `status ${statusCode}, ${type}, ${text === null ? `more than ${MAX_BYTES} bytes` : `${Buffer.byteLength(text)} bytes: ${showObserved(text)}`}`
  if (statusCode !== 200)
    return missed('http_status', observed, 'The file must answer with status 200.')
  if (!/^text\/(?!html\b)/i.test(type) || isEncoded(headers['content-encoding']))
    return missed('not_text', observed, 'Serve the file as text/plain, not compressed.')
  if (text === null)
    return missed('too_large', observed, `The file may have at most ${MAX_BYTES} bytes.`)
  if (!text.split(/\r\n|\r|\n/).some((line) => line.trim() === token))
    return missed(
      'token_missing',
      observed,
      'Put the token of this claim on a line of its own, with nothing else on that line.',
    )
  return { found: true }
}

function isEncoded(encoding: string | string[] | undefined): boolean {
  return encoding !== undefined && String(encoding).toLowerCase() !== 'identity'
}

/** The whole text, or null when there is more of it than allowed. */
async function readStart(body: Dispatcher.ResponseData['body']): Promise<string | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > MAX_BYTES) return null
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/^\ufeff/, '')
}

function missed(reason: ProofReason, observed: string | null, next: string): Sight {
  return { found: false, reason, observed, next }
}

function explain(error: unknown, url: string): Pick<Proof, 'observed' | 'reason' | 'next'> {
  if (error instanceof AddressRefusedError) {
    return {
      reason: 'address_refused',
      observed: error.message,
      next: 'The host must resolve to public addresses only.',
    }
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const isLate = error instanceof Error && (error.name === 'TimeoutError' || /TIMEOUT/.test(code))
  if (isLate) {
    const next = `${url} must answer in full within ${DEADLINE_MS / 1000} seconds.`
    return { reason: 'timeout', observed: 'no full answer in time', next }
  }
  return {
    reason: 'unreachable',
    observed: `the connection failed (${code || 'no code'})`,
    next: `See that ${url} opens in a browser, with a valid certificate, then check again.`,
  }
}
