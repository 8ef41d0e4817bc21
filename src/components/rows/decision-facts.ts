import type { Switches } from '../../domain/derived/tables.ts'
import { railsSoldOn } from '../../domain/kit/kit-entries.ts'
import type { PackageRegistry } from '../../domain/listing/invoke.ts'
import { toNetworkName } from '../../domain/listing/networks.ts'
import { chargeOf, isAbove, toCountText, toUsd } from '../../domain/listing/pricing.ts'
import { NOT_FETCHED, type PackageRun, type Probe } from '../../domain/trust/evidence.ts'
import { toDay, toRaisedPrice } from '../../domain/views/known-view.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'
import { hasRemoteEndpoint, isUp } from '../../domain/wire/vocabulary.ts'
import { UNVOUCHED } from './listing-row.ts'

/** A cell in the strip under a listing's name: a fact to decide by. */
export interface DecisionFact {
  label: string
  value: string | number
  note: string
  tone: 'plain' | 'money' | 'missing'
  /** Where the page says more, for instance `#calls`. */
  href?: string
}

/**
 * The strip under a listing's name. Unknown facts have no cell.
 * @param gets fields of the answer, or names of tools and skills
 */
export function toStripFacts(
  view: ListingView,
  probes: readonly Probe[],
  { payments = true, trust = true }: Partial<Switches> = {},
  gets: readonly DecisionFact[] = [],
): DecisionFact[] {
  // A guide is only read: nobody pays for it, and it cannot be probed.
  const isGuide = view.kind === 'kit'
  return [
    ...(payments ? toPrice(view) : []),
    ...(isGuide ? [] : toProbe(probes, view)),
    ...(payments && !isGuide ? toRails(view, probes.at(-1)?.outcome === 'gated') : []),
    ...gets,
    toRuns(view),
    ...toAccess(view),
    ...(trust && !isGuide ? toTrust(view) : []),
  ]
}

function factOf(
  label: string,
  value: string,
  note: string,
  tone: DecisionFact['tone'] = 'plain',
): DecisionFact {
  return { label, value, note, tone }
}

const COST_TEXTS = {
  free: ['Free', 'nothing is paid'],
  freemium: ['Free to start', 'more costs money'],
  // Nobody declares it: it follows from its access.
  open: ['Free', 'it asks for no key and no payment'],
  free_without_key: ['Free without a key', 'more costs money'],
  free_to_run: ['Free to run', 'on your machine'],
  own_account: ['Your own account', 'free to run'],
  paid: ['Paid', 'price not known'],
} as const

/** What the listing's price is for: a call, or the one unit that all of its priced operations charge by. */
function toUnit(operations: ListingView['operations']): string {
  const [unit = 'call', ...others] = new Set(operations.flatMap(({ price }) => price?.per ?? []))
  return others.length > 0 || unit === 'other' ? 'call' : unit
}

/** Whether some operations have a price and others have none. */
function hasUnpriced(operations: ListingView['operations']): boolean {
  return new Set(operations.map(({ price }) => price === undefined)).size > 1
}

function toPrice(view: ListingView): DecisionFact[] {
  const { pricing, kind, cost } = view
  if (pricing.model === 'per_call') {
    const { min_usd, max_usd } = pricing
    const now = toRaisedPrice(view)
    const { least, most } = now ?? { least: min_usd, most: max_usd }
    const each = `a ${toUnit(view.operations)}${hasUnpriced(view.operations) ? ', some not listed' : ''}`
    const [label, unit] =
      least === most ? ['Price', each] : ['Price from', `to ${toUsd(most)} ${each}`]
    const note = now === null ? unit : `${unit}; listed at ${toUsd(max_usd)} at most`
    return [factOf(label, most === 0 ? 'Free' : toUsd(least), note, 'money')]
  }
  const charge = chargeOf(view)
  if (charge === 'unknown' && view.auth.type === 'payment')
    return [factOf('Price', 'In its 402', 'which names the ways to pay, too')]
  // A guide is only read, so it needs no cell that says it is free.
  if (charge === 'unknown' || charge === 'per_call' || (kind === 'kit' && cost === 'unknown'))
    return []
  const [value, note] = COST_TEXTS[charge]
  return [factOf('Price', value, note)]
}

/** @param isGated whether the last probe was answered with a request for a key */
function toRails(
  { pricing, auth, notices, operations, drift = [] }: ListingView,
  isGated: boolean,
): DecisionFact[] {
  if (pricing.model !== 'per_call' || pricing.rails.length === 0) return []
  const names = pricing.networks.map(toNetworkName)
  const shown = names.slice(0, MOST_NETWORKS).join(', ')
  const more = names.length > MOST_NETWORKS ? ` and ${names.length - MOST_NETWORKS} more` : ''
  const listed = shown === '' ? 'no chain named' : shown + more
  const isElsewhere = notices.some(({ id }) => id === 'network_changed')
  const { is: now } = (isElsewhere && drift.find(({ what }) => what === 'network')) || {}
  const chains =
    now === undefined
      ? listed
      : `now ${now.split(', ').map(toNetworkName).join(', ')}; listed on ${listed}`
  const sold = operations.map(railsSoldOn).filter(({ length }) => length > 0)
  const some = pricing.rails.flatMap((rail) => {
    const { length } = sold.filter((rails) => rails.includes(rail))
    return length < sold.length ? [`${rail} for ${length} of ${sold.length} calls, `] : []
  })
  // With this access a caller needs nothing but payment, so access has no cell of its own.
  const access = isGated ? 'but our probe was asked for a key' : ACCESS_TEXTS.payment[1]
  const note = `${some.join('')}${auth.type === 'payment' ? `${chains}; ${access}` : chains}`
  return [factOf('Pays with', pricing.rails.join(', '), note)]
}

const MOST_NETWORKS = 5

/** Where a listing runs, in words. */
export function runsText(view: Pick<ListingView, 'kind' | 'invoke'>): string {
  const remote = hasRemoteEndpoint(view)
  if (view.invoke.some((one) => one.kind === 'mcp_package'))
    return remote ? 'Hosted or local' : 'On your machine'
  return remote ? 'Hosted' : 'A guide'
}

/** How a package comes from each registry, in the words of its users. */
const REGISTRY_NAMES = {
  npm: 'from npm',
  pypi: 'from PyPI',
  oci: 'as a container image',
  nuget: 'from NuGet',
  mcpb: 'as an MCP bundle',
} as const satisfies Record<PackageRegistry, string>

function toRuns(view: ListingView): DecisionFact {
  const { invoke, buy } = view
  const registries = invoke.flatMap((one) => (one.kind === 'mcp_package' ? [one.registry] : []))
  const names = [...new Set(registries)].map((id) => REGISTRY_NAMES[id])
  const direct = hasRemoteEndpoint(view) ? 'called directly' : 'your agent reads it'
  const note = names.length > 0 ? names.join(' or ') : direct
  return factOf('Runs', runsText(view), buy === 'relay_x402' ? 'relay available, no fee' : note)
}

/** How a caller authenticates, where to get the credentials, and the short form in a row. */
export const ACCESS_TEXTS = {
  none: ['Open', 'no account, no key', 'no account'],
  payment: ['Payment only', 'no account, no key', null],
  api_key: ['API key', 'from the service', 'API key'],
  bearer: ['Token', 'from the service', 'token'],
  oauth: ['OAuth', 'you sign in once', 'OAuth'],
  other: ['Credentials', 'see its documentation', 'credentials'],
  unknown: ['Not declared', 'ask or try it', null],
} as const

function toAccess({ auth, pricing }: ListingView): DecisionFact[] {
  if (auth.type === 'unknown' || (auth.type === 'payment' && pricing.model === 'per_call'))
    return []
  const [value, general] = ACCESS_TEXTS[auth.type]
  // The service may do some of its work without credentials.
  const own = auth.type === 'other' ? auth.note : undefined
  const note = auth.name === undefined ? (own ?? general) : `${auth.name}, ${auth.in ?? 'header'}`
  return [{ ...factOf('Access', value, note), ...(auth.docs !== undefined && { href: auth.docs }) }]
}

function toTrust({ trust }: ListingView): DecisionFact[] {
  if (trust.score !== null) {
    const buyers = toCountText(trust.verified_buyers_30d, 'buyer')
    const vouched = trust.unknown_buyers_30d === undefined ? UNVOUCHED : 'vouched for'
    const window = `in the 30 days to ${toDay(trust.as_of, 'short')}`
    return [factOf('Trust', `${trust.score} of 100`, `${buyers} ${window}, ${vouched}`)]
  }
  return trust.evidence === 'no_payment_data'
    ? []
    : [factOf('Trust', 'No score', 'no independent buyer', 'missing')]
}

/** Protocols as people write them. */
export const PROTOCOL_NAMES: Readonly<Record<Probe['protocol'], string>> = {
  x402: 'x402',
  mpp: 'MPP',
  mcp: 'MCP',
  a2a: 'A2A',
  http: 'HTTP',
}

/** Each outcome with its meaning for a caller. */
export const OUTCOME_WORDS = {
  spoke: ['Spoke', 'It works'],
  gated: ['Asked for a key', 'It works with one'],
  wrong_protocol: ['Answered, not as listed', 'Clients may fail here too'],
  dead: ['No good answer', 'It may be down'],
  unprobeable: ['Could not be called', 'That says nothing about the service'],
  unknown: ['No result', 'That says nothing about the service'],
} as const

function toProbe(
  probes: readonly Probe[],
  { package_run: run, operations, notices }: ListingView,
): DecisionFact[] {
  const probe = probes.at(-1)
  if (run !== undefined && (probe === undefined || probe.outcome === 'unprobeable')) {
    const { result, when } = toRunWords(run)
    const tone = run.outcome === 'runs_as_declared' ? 'plain' : 'missing'
    return [factOf('Its package', result, when, tone)]
  }
  if (probe === undefined) return []
  // The notice above already names the new price.
  const isNamed = notices.some(({ id }) => id === 'price_changed')
  return [toLastAnswer(probe, probes), ...(isNamed ? [] : toRequestedPrice(operations))]
}

/** When and how fast the service last answered; if it did not, the request, the answer, and what that means. */
function toLastAnswer(probe: Probe, probes: readonly Probe[]): DecisionFact {
  const { outcome, protocol, at, ms, saw = 'nothing' } = probe
  if (isUp(probe)) {
    const how = outcome === 'spoke' ? `spoke ${PROTOCOL_NAMES[protocol]}` : 'asked for a key'
    const note = ms === undefined ? how : `in ${ms} ms, ${how}`
    return factOf('Last answered', toDay(at, 'short'), note)
  }
  const last = probes.findLast(isUp)
  const before = last === undefined ? '' : `, last answered ${toDay(last.at, 'short')}`
  const [words, meaning] = OUTCOME_WORDS[outcome]
  const came = `${PROTOCOL_NAMES[protocol]} probe of ${toDay(at, 'short')}: ${saw}`
  return factOf('Last probed', words, `${came}. ${meaning}${before}`, 'missing')
}

/** The seller's prices at our last probe of each operation, with the highest next to the listed price. */
function toRequestedPrice(operations: ListingView['operations']): DecisionFact[] {
  const requested = operations.flatMap(({ seen, price }) =>
    seen?.min_usd === undefined ? [] : [{ at: seen.at, usd: seen.min_usd, price }],
  )
  const newest = requested
    .map(({ at }) => at.slice(0, 10))
    .sort()
    .at(-1)
  if (newest === undefined) return []
  const prices = requested.map(({ usd }) => usd).sort((a, b) => a - b)
  const range = [...new Set([toUsd(prices[0] ?? 0), toUsd(prices.at(-1) ?? 0)])].join('–')
  return requested.some(isAbove)
    ? [factOf('Asked for', range, `${newest}, more than is listed`, 'missing')]
    : [factOf('Asked for', range, `in our probe of ${newest}`, 'money')]
}

const WORDS = {
  runs_as_declared: 'Runs as declared',
  fails: 'Fails to start',
  unknown: 'No result',
} as const satisfies Record<PackageRun['outcome'], string>

/**
 * The result of a package's last run, for people.
 * @example toRunWords({ outcome: 'runs_as_declared', version: '1.4.2', at: '2026-11-22T20:39:26Z' })
 *   → { result: 'Runs as declared', when: '1.4.2, 22 November 2026', more: '' }
 */
export function toRunWords({ outcome, version, at, why, placeholders = [] }: PackageRun) {
  const day = toDay(at)
  const settings =
    placeholders.length > 0 ? `With placeholders for ${placeholders.join(', ')}.` : ''
  return {
    result: why?.startsWith(NOT_FETCHED) ? 'Could not be fetched' : WORDS[outcome],
    when: version === undefined ? day : `${version}, ${day}`,
    more: why ?? settings,
  }
}
