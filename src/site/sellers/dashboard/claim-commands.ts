/** A step of a claim that somebody makes without these pages. */
export interface ClaimCommand {
  text: string
  code: string
}

/** The whole way from the address to the verified claim, as commands; capitals are to be filled in. */
export function toClaimCommands(baseUrl: string): ClaimCommand[] {
  const sellers = `${baseUrl}/api/v1/sellers`
  const json = "-H 'content-type: application/json'"
  return [
    {
      text: 'Ask for the mail. Its link ends in a token; do not open it.',
      code: `curl -s '${sellers}/login' ${json} -d '{"email":"YOU@YOUR-SERVICE"}'`,
    },
    {
      text: 'Sign in with the token and keep the cookie.',
      code: `curl -s -c cookies '${sellers}/session' ${json} -d '{"token":"TOKEN"}'`,
    },
    {
      text: 'Start the claim: the answer says what to publish and where. Other methods are dns_txt and contact_email.',
      code: `curl -s -b cookies '${sellers}/claim' ${json} -d '{"listing_id":"LISTING","method":"well_known"}'`,
    },
    {
      text: 'Check it: the answer says what was expected and what was seen.',
      code: `curl -s -b cookies -X POST '${sellers}/claim/CLAIM/check'`,
    },
  ]
}
