import { domainOf } from '../sessions/email-address.ts'
import type { Proof, ProofRequest } from './proof.ts'

/** The sign-in link was the proof of the address; what is left is where the address lives. */
export function proveByEmail({ host, email }: ProofRequest): Proof {
  const domain = host.registrableDomain ?? host.host
  const verified = domainOf(email) === domain
  return {
    verified,
    expected: `You are signed in with an address at ${domain}.`,
    observed: email,
    reason: verified ? null : 'address_elsewhere',
    next: verified
      ? 'Nothing: the listing is yours.'
      : `Sign in with an address that ends in @${domain} and start the claim from there, or use well_known or dns_txt.`,
  }
}
