import type { ClaimStarted } from '../../../src/domain/views/seller-views.ts'
import type { ClaimMethod } from '../../../src/domain/wire/vocabulary.ts'
import type { ClaimHost } from './claim-rules.ts'

export const WELL_KNOWN_PATH = '/.well-known/listing-claim.txt'
/** The record's content is this and the token. */
export const TXT_PREFIX = 'listing-claim='

export function wellKnownUrl({ origin }: ClaimHost): string {
  return origin + WELL_KNOWN_PATH
}

/** @example txtName({ host: 'api.shop.example' }) → '_listing-claim.api.shop.example' */
export function txtName({ host }: Pick<ClaimHost, 'host'>): string {
  return `_listing-claim.${host}`
}

type Instructions = ClaimStarted['instructions']

/** Steps a seller can follow and lines to paste. `value` is what has to be found. */
export function writeInstructions(
  claimHost: ClaimHost,
  method: ClaimMethod,
  token: string,
): Instructions {
  switch (method) {
    case 'well_known':
      return fileInstructions(wellKnownUrl(claimHost), token)
    case 'dns_txt':
      return recordInstructions(txtName(claimHost), TXT_PREFIX + token)
    case 'contact_email':
      return emailInstructions(claimHost.registrableDomain ?? claimHost.host)
  }
}

function fileInstructions(url: string, token: string): Instructions {
  return {
    method: 'well_known',
    url,
    value: token,
    steps: [
      `Publish a text file at ${url} that has this token on a line of its own: ${token}`,
      `On a server with files: mkdir -p .well-known && echo '${token}' > .${WELL_KNOWN_PATH}`,
      `See that it is there: curl -i ${url} must answer 200 with Content-Type text/plain.`,
      'Run the check. Leave the file in place: it is looked at again every day.',
    ],
  }
}

function recordInstructions(record: string, value: string): Instructions {
  return {
    method: 'dns_txt',
    record,
    value,
    steps: [
      `Add a TXT record named ${record} with this content: ${value}`,
      `As a zone file line: ${record}. 300 IN TXT "${value}"`,
      `See that it is there: dig +short TXT ${record}`,
      'Run the check. New records can take minutes to be seen. Leave it in place: it is looked at again every day.',
    ],
  }
}

function emailInstructions(domain: string): Instructions {
  return {
    method: 'contact_email',
    address: `@${domain}`,
    value: `@${domain}`,
    steps: [
      `Sign in with an address that ends in @${domain}; the sign-in link proves that it is yours.`,
      'Start the claim from that account and run the check.',
    ],
  }
}
