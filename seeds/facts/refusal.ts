/**
 * Why something a source published is not imported. Closed list: a refusal is counted under one of
 * these and printed with its name, so that nothing is lost silently.
 */
export const REFUSAL_REASONS = {
  unreadable_row: 'not a JSON object',
  row_too_large: 'longer than a row may be',
  invalid_row: 'not of the published shape',
  duplicate_name: 'another row of the same name is newer, or came first',
  not_latest: 'not the latest version',
  deleted: 'deleted at the source',
  inactive: 'not offered any more, as its source says',
  source_terms: 'published only under terms that do not let its text be carried over',
  no_name: 'no readable name',
  no_description: 'no description',
  no_licence: 'no licence that says what others may do with it',
  misleading_text: 'text that forges letters',
  instruction_like_text: 'text that gives orders to an agent',
  no_url: 'no web page, repository or package page to point at',
  no_invoke: 'no remote and no package',
  template_url: 'an address with places to fill in',
  private_url: 'an address only its owner can reach',
  invalid_url: 'not a public https address',
  tunnel_host: 'a tunnel that lasts as long as somebody’s terminal',
  placeholder_host: 'a placeholder of documentation',
  unknown_transport: 'a transport that is not MCP’s',
  unknown_registry: 'a package registry that is not MCP’s',
  invalid_identifier: 'not a name in its package registry',
  unsupported_network: 'no network of the forms eip155:<id> or solana:<reference>',
  test_network: 'test networks only',
  unsupported_price: 'a price that cannot be stated in US dollars',
  ceiling_price: 'a ceiling or a deferred amount, not what one call costs',
  price_too_high: 'more than any call costs: a mistake in decimals, or a decoy',
  malformed_amount: 'not a whole number of atomic units',
  unknown_asset: 'a coin that is not known to be worth a dollar',
  known_fake: 'made up, and known to be',
  unreadable_seller: 'a seller that could not be read',
  nothing_found: 'nothing that a seller describes itself with',
  not_listed: 'not listed here',
  same_endpoints: 'everything it offers is listed under another name',
  slug_taken: 'its file name belongs to another listing',
  opted_out: 'its owner asked not to be listed',
  invalid_listing: 'not a valid listing after mapping',
} as const

export type RefusalReason = keyof typeof REFUSAL_REASONS

/** Why a part of a row, or all of it, is left out. */
export interface Fault {
  reason: RefusalReason
  /** What was wrong, where, and what would be right. Foreign text, print it through `toPrintable`. */
  detail: string
}

export function faultOf(reason: RefusalReason, detail: string): Fault {
  return { reason, detail }
}

export interface Refusal extends Fault {
  /** Its key in the source; foreign text too. */
  name: string
  /** How many rows of the source it covers; one by default. */
  rows?: number
}
