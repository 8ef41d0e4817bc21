import { createLocalJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import * as v from 'valibot'
import { parseJson } from '../../../src/domain/wire/parse-json.ts'
import { createHttpClient } from '../../net/http-client.ts'
import type { Parts } from '../../parts/parts.ts'
import { missed, type ProofCheck, type Prove, showObserved, toProof } from './proof.ts'

const KEYS_KEPT_MS = 3_600_000
/** How often at most an unknown key or a failing issuer makes us read the keys again. */
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

/** The audience of a token: this directory and this claim, so that it is valid for no other. */
export function audienceOf(baseUrl: string, token: string): string {
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

/** A workflow of the repository proves itself by the identity token of its code host (OpenID Connect). */
export function proveByWorkflow(parts: WorkflowParts): Prove {
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
      return toProof(expected, explain(error))
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

function explain(error: unknown): ProofCheck {
  if (error instanceof IssuerError)
    return missed('issuer_failed', error.message, 'Run the workflow again later.')
  if (!(error instanceof errors.JOSEError)) throw error
  const next =
    'Have the workflow ask for a new token, for exactly that audience, and send it at once.'
  return missed('token_refused', showObserved(error.message), next)
}

class IssuerError extends Error {
  override name = 'IssuerError'
}

/** The issuer's keys, cached for an hour; read again where a token names a new one. */
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
      `${url} answered ${status}${cut === null ? '' : `, cut for its ${cut}`}, and no keys`,
    )
  }
  const discovery = await read(`${issuer}/.well-known/openid-configuration`, DiscoverySchema)
  const isOwn = URL.parse(discovery.jwks_uri)?.origin === new URL(issuer).origin
  if (discovery.issuer !== issuer || !isOwn)
    throw new IssuerError(`${issuer} names another issuer, or keys elsewhere`)
  return createLocalJWKSet(await read(discovery.jwks_uri, KeysSchema))
}
