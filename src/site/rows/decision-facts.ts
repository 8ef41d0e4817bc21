import { toNetworkName } from '../../domain/listing/caip-account.ts'
import { hasRemoteEndpoint, type PackageRegistry } from '../../domain/listing/invoke.ts'
import { toCountText, toUsd } from '../../domain/operation/price-text.ts'
import type { Probe } from '../../domain/trust/evidence.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'
import { html, type Markup } from '../frame/html.ts'

/** One cell of the strip under a listing's name: what somebody decides by. */
export interface DecisionFact {
  label: string
  value: string
  note: string
  tone: 'plain' | 'money' | 'missing'
}

export function toDecisionFacts(
  view: ListingView,
  probes: readonly Pick<Probe, 'at' | 'protocol' | 'outcome' | 'ms' | 'version'>[],
): DecisionFact[] {
  // A guide is read: nobody pays it, and no probe can ask it anything.
  if (view.kind === 'kit') return [toPrice(view), toRuns(view), toAccess(view)]
  return [
    toPrice(view),
    ...toRails(view.pricing),
    toRuns(view),
    toAccess(view),
    toTrust(view),
    toProbe(probes.at(-1)),
  ]
}

function toPrice({ pricing, cost }: ListingView): DecisionFact {
  if (pricing.model === 'per_call') {
    const { min_usd, max_usd } = pricing
    const free = max_usd === 0
    return {
      label: 'Price from',
      value: free ? 'Free' : toUsd(min_usd),
      note: min_usd === max_usd ? 'a call' : `to ${toUsd(max_usd)} a call`,
      tone: 'money',
    }
  }
  const COST_TEXTS = {
    free: ['Free', 'nothing is paid'],
    freemium: ['Free to start', 'more costs money'],
    paid: ['Paid', 'price not published'],
    unknown: ['Not published', 'ask the seller'],
  } as const
  const [value, note] = COST_TEXTS[cost]
  return { label: 'Price', value, note, tone: 'plain' }
}

function toRails(pricing: ListingView['pricing']): DecisionFact[] {
  if (pricing.model !== 'per_call' || pricing.rails.length === 0) return []
  const names = pricing.networks.map(toNetworkName)
  const [first = 'no chain named', second] = names
  const note =
    names.length > 2 ? `${names.length} networks` : [first, second].filter(Boolean).join(', ')
  return [{ label: 'Pays with', value: pricing.rails.join(', '), note, tone: 'plain' }]
}

/** The strip under a listing's name. */
export function toStrip(view: ListingView, probes: readonly Probe[]): Markup {
  const cells = toDecisionFacts(view, probes).map(
    ({ label, value, note, tone }) => html`
      <div><dt>${label}</dt>
        <dd class="${tone === 'money' && 'money'}">${tone === 'missing' && html`<span class="dot missing"></span> `}${value}</dd>
        ${note !== '' && html`<dd class="strip-note">${note}</dd>`}</div>`,
  )
  return html`<dl class="strip">${cells}</dl>`
}

/** Where it runs, in words. */
export function runsText(view: Pick<ListingView, 'kind' | 'invoke'>): string {
  const remote = hasRemoteEndpoint(view)
  if (view.invoke.some((one) => one.kind === 'mcp_package'))
    return remote ? 'Hosted or local' : 'On your machine'
  return remote ? 'Hosted' : 'A guide'
}

/** Registries of packages as their users call them. */
export const REGISTRY_NAMES = {
  npm: 'npm',
  pypi: 'PyPI',
  oci: 'a container image',
  nuget: 'NuGet',
  mcpb: 'an MCP bundle',
} as const satisfies Record<PackageRegistry, string>

function toRuns(view: ListingView): DecisionFact {
  const { invoke, buy } = view
  const remote = hasRemoteEndpoint(view)
  const local = invoke.some((one) => one.kind === 'mcp_package')
  const value = runsText(view)
  const registries = invoke.flatMap((one) => (one.kind === 'mcp_package' ? [one.registry] : []))
  const note =
    buy === 'relay_x402'
      ? 'relay available, no fee'
      : local
        ? `from ${[...new Set(registries)].map((id) => REGISTRY_NAMES[id]).join(', ')}`
        : remote
          ? 'called directly'
          : 'nothing to run'
  return { label: 'Runs', value, note, tone: 'plain' }
}

/** How a caller proves itself, and where it gets that from. */
export const ACCESS_TEXTS = {
  none: ['Open', 'no account, no key'],
  payment: ['Payment only', 'no account, no key'],
  api_key: ['API key', 'from the seller'],
  bearer: ['Token', 'from the seller'],
  oauth: ['OAuth', 'you sign in once'],
  other: ['Its own way', 'see its documentation'],
  unknown: ['Not declared', 'ask or try it'],
} as const

function toAccess({ auth }: ListingView): DecisionFact {
  const [value, note] = ACCESS_TEXTS[auth.type]
  return {
    label: 'Access',
    value,
    note: auth.name === undefined ? note : `${auth.name}, ${auth.in ?? 'header'}`,
    tone: auth.type === 'unknown' ? 'missing' : 'plain',
  }
}

function toTrust({ trust, notices }: ListingView): DecisionFact {
  if (trust.score !== null)
    return {
      label: 'Trust',
      value: `${trust.score} of 100`,
      note: `${toCountText(trust.verified_buyers_30d, 'buyer')}, ${trust.unknown_buyers_30d === undefined ? 'not vouched for' : 'vouched for'}`,
      tone: 'plain',
    }
  const isWashed = trust.evidence !== 'no_payment_data'
  const unmeasured = notices.length === 0 ? 'not a bad sign' : 'see the notices'
  return {
    label: 'Trust',
    value: isWashed ? 'No score' : 'Unmeasured',
    note: isWashed ? 'no independent buyer' : unmeasured,
    tone: 'missing',
  }
}

/** Protocols as people write them. */
export const PROTOCOL_NAMES: Readonly<Record<Probe['protocol'], string>> = {
  x402: 'x402',
  mpp: 'MPP',
  mcp: 'MCP',
  a2a: 'A2A',
  http: 'HTTP',
}

export const OUTCOME_WORDS = {
  spoke: 'Spoke',
  gated: 'Asked for a key',
  wrong_protocol: 'Spoke something else',
  dead: 'Did not answer',
  unprobeable: 'Cannot be probed',
  unknown: 'No result',
} as const

function toProbe(probe: Parameters<typeof toDecisionFacts>[1][number] | undefined): DecisionFact {
  if (probe === undefined)
    return { label: 'Last probed', value: 'Not yet', note: 'no probe so far', tone: 'missing' }
  const spoke = probe.outcome === 'spoke'
  return {
    label: 'Last probed',
    value: spoke ? `Spoke ${PROTOCOL_NAMES[probe.protocol]}` : OUTCOME_WORDS[probe.outcome],
    note: `${probe.at.slice(0, 10)}${probe.ms === undefined ? '' : `, ${probe.ms} ms`}`,
    tone: spoke || probe.outcome === 'gated' ? 'plain' : 'missing',
  }
}
