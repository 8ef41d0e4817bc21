import type { ClaimMethod, ClaimState } from '../../../domain/wire/vocabulary.ts'

/** The proofs of a claim, for sellers. */
export const CLAIM_METHOD_TEXTS: Record<
  ClaimMethod,
  { label: string; instead: string; text: string }
> = {
  well_known: {
    label: 'A file on your host',
    instead: 'a file',
    text: 'Put a token into a text file under /.well-known/ on the host of the listing.',
  },
  dns_txt: {
    label: 'A DNS record',
    instead: 'a DNS record',
    text: 'Publish the token in a TXT record under the host of the listing.',
  },
  contact_email: {
    label: 'An address at your domain',
    instead: 'an email address',
    text: 'Sign in with an email address at the domain of the listing.',
  },
  oidc: {
    label: 'A workflow of your repository',
    instead: 'a workflow',
    text: 'For a listing on GitHub or GitHub Pages: a workflow of the repository sends its identity token.',
  },
}

export const CLAIM_STATE_TEXTS: Record<ClaimState, string> = {
  pending: 'waiting for proof',
  verified: 'verified',
  expired: 'expired: no proof within 72 hours',
  superseded: 'another seller proved control later',
  lapsed: 'the proof has been gone for a week',
}
