import { ownerDomainOf, type SharedHosts } from '../../../src/domain/owners/shared-hosts.ts'
import { headerOf, type ProbeAnswer, type ProbeReply } from '../../../src/domain/probe/finding.ts'
import { createHttpClient, type Fetcher } from '../../net/http-client.ts'
import { PURPOSES } from '../../net/purposes.ts'
import type { Parts } from '../../parts/parts.ts'
import { wellKnownUrl } from './claim-instructions.ts'
import { missed, type ProofCheck, type Prove, showObserved, toProof } from './proof.ts'

/** Size of the file. */
const MAX_BYTES = 4096
const { redirects: MAX_REDIRECTS, limits } = PURPOSES.claim

export function proveByWellKnown({
  config,
  resolver,
  release,
}: Pick<Parts, 'config' | 'resolver' | 'release'>): Prove {
  return async ({ host, token }) => {
    const url = wellKnownUrl(host)
    const expected = `${url} answers 200 with a text file that has the line ${token}`
    await using client = createHttpClient('claim', { config, resolver })
    return toProof(expected, await look(url, token, client, release().sharedHosts))
  }
}

async function look(url: string, token: string, { fetch }: Fetcher, sharedHosts: SharedHosts) {
  const mayFollow = (next: URL) => isWithin(url, next, sharedHosts)
  const reply = await fetch({ method: 'GET', url, headers: { accept: 'text/plain' }, mayFollow })
  if (!reply.answered) return explain(reply, url)
  const { answer } = reply
  if (answer.cut === 'time') return late(url)
  if (answer.cut === 'broken' && !isCoded(answer)) return broken(url, 'no code')
  if (answer.status < 300 || answer.status > 399) return judgeAnswer(answer, token)
  return missedRedirect(answer, url, mayFollow)
}

/** @param answer the first redirect that was not followed */
function missedRedirect(
  answer: ProbeAnswer,
  url: string,
  mayFollow: (next: URL) => boolean,
): ProofCheck {
  const location = headerOf(answer, 'location')
  const next = URL.parse(location ?? '', url)
  if (next !== null && mayFollow(next))
    return missed(
      'redirected_elsewhere',
      `more than ${MAX_REDIRECTS} redirects`,
      'Serve the file without redirects.',
    )
  return missed(
    'redirected_elsewhere',
    `status ${answer.status}, location ${location ?? 'none'}`,
    'Serve the file itself; a redirect may lead only to the same domain over https.',
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

function judgeAnswer(answer: ProbeAnswer, token: string): ProofCheck {
  const { status, body, cut } = answer
  const type = headerOf(answer, 'content-type') ?? 'no content type'
  const isTooLarge = cut === 'size' || Buffer.byteLength(body) > MAX_BYTES
  const text = isTooLarge
    ? `more than ${MAX_BYTES} bytes`
    : `${Buffer.byteLength(body)} bytes: ${showObserved(body)}`
  const observed = `status ${status}, ${type}, ${text}`
  if (status !== 200)
    return missed('http_status', observed, 'The file must answer with status 200.')
  if (!/^text\/(?!html\b)/i.test(type) || isCoded(answer))
    return missed('not_text', observed, 'Serve the file as text/plain, not compressed.')
  if (isTooLarge)
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

function late(url: string): ProofCheck {
  const next = `${url} must answer in full within ${limits.answerMs / 1000} seconds.`
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

function broken(url: string, code: string): ProofCheck {
  const next = `See that ${url} opens in a browser, with a valid certificate, then check again.`
  return missed('unreachable', `the connection failed (${code})`, next)
}
