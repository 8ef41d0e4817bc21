import { createLocalJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import * as v from 'valibot'
import { headerOf, type ProbeAnswer, type ProbeReply } from '../../src/domain/probe/finding.ts'
import {
  type ClaimHost,
  ownerDomainOf,
  type SharedHosts,
} from '../../src/domain/sellers/claim-rules.ts'
import type { ClaimCheckResult, ClaimStarted } from '../../src/domain/views/seller-views.ts'
import { parseJson } from '../../src/domain/wire/json.ts'
import { codeOf } from '../../src/domain/wire/problems.ts'
import { cutAt } from '../../src/domain/wire/text.ts'
import type { ClaimMethod } from '../../src/domain/wire/vocabulary.ts'
import type { Parts } from '../features/feature.ts'
import { PURPOSES } from '../net/guard.ts'
import { createHttpClient, type Fetcher } from '../net/http-client.ts'
import { type Resolver, ResolversDisagreeError } from '../net/resolver.ts'
import { within } from '../ports/clock.ts'

/**
 * Proofs that a seller controls a listing's domain, mailbox or repository.
 *
 * Security model: the proof is a secret of this claim at a place that only the domain's owner can write: a
 * file, a TXT record on which our resolvers agree, a mailbox, or a token that a code host signed for exactly
 * this claim. Requests go through the guard, follow redirects only within the owner's domain, and read a few
 * KiB. Answers are shown truncated, with control characters made visible.
 *
 * Known limitations: an attacker who takes over a domain, its DNS or a repository can prove control too;
 * claims are checked again regularly, so an old claim ends. Which hosts strangers share is known from the
 * Public Suffix List and a table of ours; any other host is taken to belong to its domain's owner.
 */

/** Longer than the resolver's own tries; a hanging resolver is cut off here (milliseconds). */
const DEADLINE_MS = 10_000

export function createProver(
  parts: Pick<Parts, 'config' | 'resolver' | 'release' | 'clock'>,
): Prove {
  const ways: Record<ClaimMethod, Prove> = {
    well_known: proveByWellKnown(parts),
    dns_txt: proveByDns(parts.resolver),
    contact_email: proveByEmail,
    oidc: proveByWorkflow(parts),
  }
  return (request) => ways[request.method](request)
}

function proveByDns(resolver: Pick<Resolver, 'txt'>): Prove {
  return async ({ host, token }) => {
    const name = txtName(host)
    const value = TXT_PREFIX + token
    const expected = `A TXT record at ${name} with exactly ${value}`
    try {
      const records = await within(DEADLINE_MS, resolver.txt(name))
      return toProof(expected, judgeRecords(records, name, value))
    } catch (error) {
      return toProof(expected, explainLookup(error, name))
    }
  }
}

function judgeRecords(records: string[][], name: string, value: string): ProofCheck {
  // RFC 1035 §3.3.14: a record may be split into strings of 255 octets, which belong together.
  const texts = records.map((strings) => strings.join(''))
  if (texts.length === 0) return missing(name)
  if (!texts.includes(value))
    return missed(
      'record_differs',
      showObserved(texts.join('\n')),
      `Change the TXT record at ${name} to ${value}, wait until its TTL has passed, and check again.`,
    )
  const next = 'Nothing: the listing is yours. Leave the record in place.'
  return { observed: value, reason: null, next }
}

function explainLookup(error: unknown, name: string): ProofCheck {
  if (error instanceof ResolversDisagreeError)
    return missed(
      'resolvers_disagree',
      null,
      'Two name servers gave different answers. The record may still be propagating: wait until its TTL has passed and check again.',
    )
  const code = codeOf(error)
  if (code === 'ENOTFOUND' || code === 'ENODATA') return missing(name)
  const next = `The name servers gave no answer (${code || 'no code'}). Make sure that dig TXT ${name} gets an answer, then check again.`
  return missed('dns_failed', null, next)
}

function missing(name: string): ProofCheck {
  const next = `No TXT record was found at ${name}. Add it, wait a few minutes, and check again.`
  return missed('record_missing', null, next)
}

/** The sign-in link proved the address; what remains is to check its domain. */
const proveByEmail: Prove = async ({ host, email }) => {
  const domain = host.mailDomain
  const verified = email.slice(email.indexOf('@') + 1) === domain
  return toProof(`You are signed in with an address at ${domain}.`, {
    observed: email,
    reason: verified ? null : 'address_elsewhere',
    next: verified
      ? 'Nothing: the listing is yours.'
      : `Sign in with an address that ends in @${domain} and start the claim from there, or use well_known or dns_txt.`,
  })
}

/** What a proof looked for, what it saw, and what the seller can do about the difference. */
export type Proof = Omit<ClaimCheckResult, 'method' | 'checked_at'>

/** What was seen, before it is compared with what was expected. */
type ProofCheck = Pick<Proof, 'observed' | 'reason' | 'next'>

/** A failed check, with what was seen and what to do next. */
export function missed(reason: string, observed: string | null, next: string): ProofCheck {
  return { observed, reason, next }
}

export function toProof(expected: string, sight: ProofCheck): Proof {
  return { verified: sight.reason === null, expected, ...sight }
}

/** A proof method. It never throws for a fault on the seller's side, but reports what was seen. */
export type Prove = (request: ProofRequest) => Promise<Proof>

interface ProofRequest {
  host: ClaimHost
  method: ClaimMethod
  token: string
  email: string
  /** What a workflow sent to prove itself. */
  idToken?: string | undefined
}

const MAX_OBSERVED = 300

/** Foreign text shown to a seller: truncated, with its control characters made visible. */
export function showObserved(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: making them visible is the point
  const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e]/g
  return cutAt(text, MAX_OBSERVED).replace(
    control,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Largest size of the file (bytes). */
const MAX_BYTES = 4096
const { redirects: MAX_REDIRECTS, limits } = PURPOSES.claim

function proveByWellKnown({
  config,
  resolver,
  sign,
  release,
}: Pick<Parts, 'config' | 'resolver' | 'sign' | 'release'>): Prove {
  return async ({ host, token }) => {
    const url = wellKnownUrl(host)
    const expected = `${url} answers 200 with a text file that has the line ${token}`
    await using client = createHttpClient('claim', { config, resolver, sign })
    return toProof(expected, await look(url, token, client, release().sharedHosts))
  }
}

async function look(url: string, token: string, { fetch }: Fetcher, sharedHosts: SharedHosts) {
  const mayFollow = (next: URL) => isWithin(url, next, sharedHosts)
  const reply = await fetch({ method: 'GET', url, headers: { accept: 'text/plain' }, mayFollow })
  if (!reply.answered) return explainFetch(reply, url)
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

/** Whether a redirect stays on the registrable domain over https or, in trials, on the very same origin. */
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
  return { observed: token, reason: null, next }
}

function isCoded(answer: ProbeAnswer): boolean {
  return (headerOf(answer, 'content-encoding') ?? 'identity').toLowerCase() !== 'identity'
}

function late(url: string): ProofCheck {
  const next = `${url} must answer in full within ${limits.answerMs / 1000} seconds.`
  return missed('timeout', 'no full answer in time', next)
}

function explainFetch({ failure, detail }: Extract<ProbeReply, { answered: false }>, url: string) {
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
  const next = `Make sure that ${url} opens in a browser with a valid certificate, then check again.`
  return missed('unreachable', `the connection failed (${code})`, next)
}

const KEYS_KEPT_MS = 3_600_000
/** Least time between two reads of the keys after an unknown key or a failing issuer (milliseconds). */
const KEYS_READ_AGAIN_MS = 60_000
const CLOCKS_APART_SECONDS = 60
const OLDEST_TOKEN_SECONDS = 15 * 60
/** Events that only people with write access can trigger. A pull request can be a stranger's. */
const EVENTS = [
  'push',
  'workflow_dispatch',
  'schedule',
  'release',
  'deployment',
  'deployment_status',
]

/** A token's audience: this directory and this claim, so that it is valid for no other. */
function audienceOf(baseUrl: string, token: string): string {
  return `${baseUrl}/listing-claim/${token}`
}

const ClaimsSchema = v.object({
  repository: v.string(),
  repository_id: v.string(),
  repository_owner: v.string(),
  repository_owner_id: v.string(),
  event_name: v.string(),
})

type WorkflowParts = Pick<Parts, 'config' | 'resolver' | 'clock'>

/** A workflow of the repository proves itself with an identity token from its code host (OpenID Connect). */
function proveByWorkflow(parts: WorkflowParts): Prove {
  const { config, clock } = parts
  const keysOf = createKeys(parts)
  return async ({ host, token, idToken }) => {
    const audience = audienceOf(config.BASE_URL, token)
    const expected = `A workflow of ${host.repositories.join(' or ')} sends a token of ${config.OIDC_ISSUER} for ${audience}`
    const next = 'Run the workflow: it sends the proof.'
    if (idToken === undefined) return toProof(expected, missed('token_absent', null, next))
    try {
      const { payload } = await jwtVerify(idToken, keysOf, {
        ...{ audience, issuer: config.OIDC_ISSUER, algorithms: ['RS256'] },
        ...{ clockTolerance: CLOCKS_APART_SECONDS, maxTokenAge: OLDEST_TOKEN_SECONDS },
        requiredClaims: ['exp', 'nbf', 'iat'],
        currentDate: new Date(clock.now()),
      })
      return toProof(expected, judgeClaims(payload, host.repositories))
    } catch (error) {
      return toProof(expected, explainToken(error))
    }
  }
}

function judgeClaims(payload: JWTPayload, repositories: readonly string[]): ProofCheck {
  const parsed = v.safeParse(ClaimsSchema, payload)
  if (!parsed.success)
    return missed('token_refused', 'not a workflow token', 'Send the token of a workflow’s run.')
  const { repository, repository_id, repository_owner, repository_owner_id, event_name } =
    parsed.output
  const name = repository.toLowerCase()
  const observed = showObserved(
    `${repository} (${repository_id}) of ${repository_owner} (${repository_owner_id}), on ${event_name}`,
  )
  if (!repositories.includes(name) || !name.startsWith(`${repository_owner.toLowerCase()}/`))
    return missed('repository_differs', observed, 'Run the workflow in the repository itself.')
  if (!EVENTS.includes(event_name))
    return missed('event_refused', observed, `Start it by one of these: ${EVENTS.join(', ')}.`)
  const next = 'Nothing: the listing is yours. Let the workflow run again each week.'
  return { reason: null, observed, next }
}

function explainToken(error: unknown): ProofCheck {
  if (error instanceof IssuerError)
    return missed('issuer_failed', error.message, 'Run the workflow again later.')
  if (!(error instanceof errors.JOSEError)) throw error
  const next =
    'Have the workflow request a new token for exactly that audience and send it at once.'
  return missed('token_refused', showObserved(error.message), next)
}

class IssuerError extends Error {
  override name = 'IssuerError'
}

/** The issuer's keys, cached for an hour; read again if a token names an unknown key. */
function createKeys({ config, resolver, clock }: WorkflowParts): JWTVerifyGetKey {
  let read = {
    at: Number.NEGATIVE_INFINITY,
    keys: Promise.resolve(createLocalJWKSet({ keys: [] })),
  }
  const keysFor = (keptMs: number) => {
    if (clock.now() - read.at >= keptMs)
      read = { at: clock.now(), keys: readKeys(config, resolver) }
    return read.keys
  }
  return async (header, token) => {
    const keys = await keysFor(KEYS_KEPT_MS).catch(() => keysFor(KEYS_READ_AGAIN_MS))
    try {
      return await keys(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      return (await keysFor(KEYS_READ_AGAIN_MS))(header, token)
    }
  }
}

const DiscoverySchema = v.object({ issuer: v.string(), jwks_uri: v.string() })
const KeysSchema = v.object({
  keys: v.pipe(v.array(v.looseObject({ kty: v.string() })), v.maxLength(50)),
})

async function readKeys(config: WorkflowParts['config'], resolver: WorkflowParts['resolver']) {
  const { OIDC_ISSUER: issuer } = config
  await using client = createHttpClient('claim', { config, resolver })
  const read = async <Output>(url: string, schema: v.GenericSchema<unknown, Output>) => {
    const reply = await client.fetch({ method: 'GET', url })
    if (!reply.answered) throw new IssuerError(`${url} did not answer (${reply.failure})`)
    const { status, cut, body } = reply.answer
    const parsed = v.safeParse(schema, parseJson(body))
    if (status === 200 && cut === null && parsed.success) return parsed.output
    throw new IssuerError(
      `${url} answered ${status}${cut === null ? '' : ', an incomplete answer'}, without what we need`,
    )
  }
  const discovery = await read(`${issuer}/.well-known/openid-configuration`, DiscoverySchema)
  const isOwn = URL.parse(discovery.jwks_uri)?.origin === new URL(issuer).origin
  if (discovery.issuer !== issuer || !isOwn)
    throw new IssuerError(`${issuer} names another issuer, or keys on another host`)
  return createLocalJWKSet(await read(discovery.jwks_uri, KeysSchema))
}

const WELL_KNOWN_PATH = '/.well-known/listing-claim.txt'
/** The record contains this prefix followed by the token. */
const TXT_PREFIX = 'listing-claim='

function wellKnownUrl({ origin }: ClaimHost): string {
  return origin + WELL_KNOWN_PATH
}

/** @example txtName({ host: 'api.shop.example' }) → '_listing-claim.api.shop.example' */
function txtName({ host }: Pick<ClaimHost, 'host'>): string {
  return `_listing-claim.${host}`
}

type Instructions = ClaimStarted['instructions']

/** Steps a seller can follow and lines to paste. `value` is what must be found. */
export function writeInstructions(
  claimHost: ClaimHost,
  method: ClaimMethod,
  { id, token, baseUrl }: { id: string; token: string; baseUrl: string },
): Instructions {
  switch (method) {
    case 'well_known':
      return fileInstructions(wellKnownUrl(claimHost), token)
    case 'dns_txt':
      return recordInstructions(txtName(claimHost), TXT_PREFIX + token)
    case 'contact_email':
      return emailInstructions(claimHost.mailDomain)
    case 'oidc':
      return workflowInstructions(
        claimHost,
        audienceOf(baseUrl, token),
        `${baseUrl}/api/v1/sellers/claim/${id}/check`,
      )
  }
}

type Guide = Instructions['guide']

function fileInstructions(url: string, token: string): Instructions {
  return withSteps({ method: 'well_known', url, value: token }, [
    { text: `Publish a text file at ${url} that has this token on a line of its own`, code: token },
    {
      text: 'On a server with files, in the folder it serves',
      code: `mkdir -p .well-known && echo '${token}' > .${WELL_KNOWN_PATH}`,
    },
    {
      text: 'Check it: the answer must be 200 with Content-Type text/plain',
      code: `curl -i ${url}`,
    },
    { text: 'Run the check. Leave the file in place: it is checked again every day.' },
  ])
}

function recordInstructions(record: string, value: string): Instructions {
  return withSteps({ method: 'dns_txt', record, value }, [
    { text: `Add a TXT record named ${record} with this content`, code: value },
    { text: 'As a line of a zone file', code: `${record}. 300 IN TXT "${value}"` },
    { text: 'Check that the record is there', code: `dig +short TXT ${record}` },
    {
      text: 'Run the check. New records can take minutes to be seen. Leave the record in place: it is checked again every day.',
    },
  ])
}

function emailInstructions(domain: string): Instructions {
  const address = `@${domain}`
  return withSteps({ method: 'contact_email', address, value: address }, [
    {
      text: `Sign in with an address that ends in ${address}; the sign-in link proves that it is yours.`,
    },
    { text: 'Start the claim from that account and run the check.' },
  ])
}

/** @param url the address to which the workflow sends its token */
function workflowInstructions({ repositories }: ClaimHost, audience: string, url: string) {
  const [, ...others] = repositories
  const where = `${repositories[0]}${others.map((other) => ` or ${other}`).join('')}`
  return withSteps({ method: 'oidc', url, value: audience }, [
    {
      text: `Add the file .github/workflows/listing-claim.yml to the default branch of ${where}`,
      code: `on: { workflow_dispatch: {}, schedule: [{ cron: '17 5 * * 1' }] }
permissions: { id-token: write }
jobs:
  claim:
    runs-on: ubuntu-latest
    steps:
      - run: |
          token=$(curl -sSf -H "Authorization: Bearer $ACTIONS_ID_TOKEN_REQUEST_TOKEN" "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=${audience}" | jq -r .value)
          curl -sS --fail-with-body -X POST -H "Authorization: Bearer $token" ${url}`,
    },
    { text: "Run it on the repository's Actions page. The log of the run shows the answer." },
    {
      text: 'Leave it in place: it proves the listing anew each week. The claim ends after 37 days without a proof.',
    },
  ])
}

/** `steps` has each step of the guide as one line, for people who read the raw answer. */
function withSteps(facts: Omit<Instructions, 'steps' | 'guide'>, guide: Guide): Instructions {
  const steps = guide.map(({ text, code }) => (code === undefined ? text : `${text}: ${code}`))
  return { ...facts, steps, guide }
}
