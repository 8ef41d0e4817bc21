import type { Parts } from '../../parts/parts.ts'
import type { Proof, ProofRequest } from './proof.ts'
import { proveByDns } from './proof-dns.ts'
import { proveByEmail } from './proof-email.ts'
import { proveByWellKnown } from './proof-well-known.ts'

export type Prove = (request: ProofRequest) => Promise<Proof>

/** Never throws for what the seller's side does: every failure is a proof that says what was seen. */
export function createProver(parts: Pick<Parts, 'config' | 'resolver' | 'release'>): Prove {
  const byWellKnown = proveByWellKnown(parts)
  const byDns = proveByDns(parts.resolver)
  return (request) => {
    switch (request.method) {
      case 'well_known':
        return byWellKnown(request)
      case 'dns_txt':
        return byDns(request)
      case 'contact_email':
        return Promise.resolve(proveByEmail(request))
    }
  }
}
