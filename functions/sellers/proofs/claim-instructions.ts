import type { ClaimHost } from '../../../src/domain/owners/claim-rules.ts'
import type { ClaimStarted } from '../../../src/domain/views/seller-views.ts'
import type { ClaimMethod } from '../../../src/domain/wire/vocabulary.ts'
import { audienceOf } from './proof-workflow.ts'

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
      return emailInstructions(claimHost.registrableDomain ?? claimHost.host)
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
    { text: 'Run the check. Leave the file in place: it is looked at again every day.' },
  ])
}

function recordInstructions(record: string, value: string): Instructions {
  return withSteps({ method: 'dns_txt', record, value }, [
    { text: `Add a TXT record named ${record} with this content`, code: value },
    { text: 'As a line of a zone file', code: `${record}. 300 IN TXT "${value}"` },
    { text: 'See that it is there', code: `dig +short TXT ${record}` },
    {
      text: 'Run the check. New records can take minutes to be seen. Leave it in place: it is looked at again every day.',
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

/** @param url where the workflow sends its token */
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
    { text: 'Run it on the page Actions of the repository. Its log shows the answer.' },
    {
      text: 'Leave it in place: it proves the listing anew each week. The claim ends when none came for 37 days.',
    },
  ])
}

/** `steps` give everything in one line each, for readers of the raw answer. */
function withSteps(facts: Omit<Instructions, 'steps' | 'guide'>, guide: Guide): Instructions {
  const steps = guide.map(({ text, code }) => (code === undefined ? text : `${text}: ${code}`))
  return { ...facts, steps, guide }
}
