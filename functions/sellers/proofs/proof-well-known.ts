import { ownerDomainOf, type SharedHosts } from '../../../src/domain/owners/shared-hosts.ts'
import {
  headerOf,
  type ProbeAnswer,
  type ProbeReply,
} from '../../../src/domain/probe/read/probe-answer.ts'
import type { Parts } from '../../parts/parts.ts'
import { type Asker, createAsker, toShortLimits } from '../../probe/ask.ts'
import { wellKnownUrl } from './claim-instructions.ts'
import { missed, type ProofSight, type Prove, showObserved, toProof } from './proof.ts'

/** Size of the file, time for the whole proof; redirects stay within the domain. */
const MAX_BYTES = 4096
const DEADLINE_MS = 10_000
const MAX_REDIRECTS = 3
const LIMITS = toShortLimits(DEADLINE_MS, DEADLINE_MS, MAX_BYTES)

export function proveByWellKnown({
  config,
  resolver,
  release,
}: Pick<Parts, 'config' | 'resolver' | 'release'>): Prove {
  return async ({ host, token }) => {
    const url = wellKnownUrl(host)
    const expected = `${url} answers 200 with a text file that has the line ${token}`
    const userAgent = 'Directory-Claim/1'
    await using asker = createAsker({ config, resolver, userAgent, limits: LIMITS })
    return toProof(expected, await look(url, token, asker, release().sharedHosts))
  }
}

async function look(url: string, token: string, { ask }: Asker, sharedHosts: SharedHosts) {
  const signal = AbortSignal.timeout(DEADLINE_MS)
  let target = url
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const headers = { accept: 'text/plain' }
    const reply = await ask({ method: 'GET', url: target, headers, signal })
    if (!reply.answered) return explain(reply, url)
    const { answer } = reply
    if (answer.cut === 'time' || signal.aborted) return late(url)
    if (answer.cut === 'broken' && !isCoded(answer)) return broken(url, 'no code')
    if (answer.status < 300 || answer.status > 399) return judgeAnswer(answer, token)
    const location = headerOf(answer, 'location')
    const next = URL.parse(location ?? '', target)
    if (next === null || !isWithin(url, next, sharedHosts)) {
      return missed(
        'redirected_elsewhere',
        `status ${answer.status}, location ${location ?? 'none'}`,
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

function judgeAnswer(answer: ProbeAnswer, token: string): ProofSight {
  const { status, body, cut } = answer
  const type = headerOf(answer, 'content-type') ?? 'no content type'
  const text =
    cut === 'size'
      ? `more than ${MAX_BYTES} bytes`
      : `${Buffer.byteLength(body)} bytes: ${showObserved(body)}`
  const observed = `status ${status}, ${type}, ${text}`
  if (status !== 200)
    return missed('http_status', observed, 'The file must answer with status 200.')
  if (!/^text\/(?!html\b)/i.test(type) || isCoded(answer))
    return missed('not_text', observed, 'Serve the file as text/plain, not compressed.')
  if (cut === 'size')
    return missed('too_large', observed, `The file may have at most ${MAX_BYTES} bytes.`)
  if (!body.split(/\r\n|\r|\n/).some((line) => line.trim() === token))
    return missed(
      'token_missing',
      observed,
      'Put the token of this claim on a line of its own, with nothing else on that line.',
    )
  const next = 'Nothing: the listing is yours. Leave the file in place.'
  return { reason: null, observed: token, next }
}

function isCoded(answer: ProbeAnswer): boolean {
  return (headerOf(answer, 'content-encoding') ?? 'identity').toLowerCase() !== 'identity'
}

function late(url: string): ProofSight {
  const next = `${url} must answer in full within ${DEADLINE_MS / 1000} seconds.`
  return missed('timeout', 'no full answer in time', next)
}

function explain({ failure, detail }: Extract<ProbeReply, { answered: false }>, url: string) {
  if (failure === 'address_refused')
    return missed(
      'address_refused',
      `the host resolves to an address that is not public (${detail})`,
      'The host must resolve to public addresses only.',
    )
  if (failure === 'timeout' || /TIMEOUT/.test(detail)) return late(url)
  return broken(url, detail || 'no code')
}

function broken(url: string, code: string): ProofSight {
  const next = `See that ${url} opens in a browser, with a valid certificate, then check again.`
  return missed('unreachable', `the connection failed (${code})`, next)
}
