import type { ClaimMethod } from '../../../src/domain/wire/vocabulary.ts'
import { type Resolver, ResolversDisagreeError } from '../../net/resolver.ts'
import type { Parts } from '../../parts/parts.ts'
import { within } from '../../ports/clock.ts'
import { TXT_PREFIX, txtName } from './claim-instructions.ts'
import { missed, type ProofCheck, type Prove, showObserved, toProof } from './proof.ts'
import { proveByWellKnown } from './proof-well-known.ts'
import { proveByWorkflow } from './proof-workflow.ts'

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
      return toProof(expected, explain(error, name))
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

function explain(error: unknown, name: string): ProofCheck {
  if (error instanceof ResolversDisagreeError)
    return missed(
      'resolvers_disagree',
      null,
      'Two name servers gave different answers. The record is still spreading: wait until its TTL has passed and check again.',
    )
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ENOTFOUND' || code === 'ENODATA') return missing(name)
  const next = `The name servers gave no answer (${code || 'no code'}). See that dig TXT ${name} answers, then check again.`
  return missed('dns_failed', null, next)
}

function missing(name: string): ProofCheck {
  const next = `No TXT record was found at ${name}. Add it, wait a few minutes, and check again.`
  return missed('record_missing', null, next)
}

/** The sign-in link proved the address; what remains is to check its domain. */
const proveByEmail: Prove = async ({ host, email }) => {
  const domain = host.registrableDomain ?? host.host
  const verified = email.slice(email.indexOf('@') + 1) === domain
  return toProof(`You are signed in with an address at ${domain}.`, {
    observed: email,
    reason: verified ? null : 'address_elsewhere',
    next: verified
      ? 'Nothing: the listing is yours.'
      : `Sign in with an address that ends in @${domain} and start the claim from there, or use well_known or dns_txt.`,
  })
}
