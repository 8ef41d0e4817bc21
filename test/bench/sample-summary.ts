import type { SearchDocument } from '../../src/search/index/search-document.ts'

const BASE = 'https://waypost.example'

/** The bytes of a listing summary with every member the interface specification names. */
export function sampleSummary(document: Omit<SearchDocument, 'body'>): Uint8Array<ArrayBuffer> {
  const { id, name, kind, summary, url, categories, rails, minUsd, trustScore } = document
  const relayable = rails.includes('x402')
  const page = `${BASE}/listing/${id}`
  const badge = `${BASE}/badge/${id}.svg`
  return new TextEncoder().encode(
    JSON.stringify({
      id,
      name,
      kind,
      summary,
      status: 'unclaimed',
      url,
      categories,
      pricing:
        minUsd === null
          ? { model: 'unknown' }
          : {
              model: 'per_call',
              min_usd: minUsd,
              max_usd: minUsd,
              rails,
              networks: ['eip155:8453'],
            },
      trust: sampleTrust(trustScore, document.verifiedBuyers),
      invoke: kind === 'mcp_server' ? [{ kind: 'mcp', transport: 'streamable-http', url }] : [],
      ...(document.has.length > 0 && {
        discovery: Object.fromEntries(document.has.map((file) => [file, `${url}/${file}`])),
      }),
      sources: document.sources,
      badges: ['unclaimed', ...(trustScore === null ? [] : ['paid_usage_verified'])],
      tiers: {
        tier: null,
        tier_label: null,
        highest_earned: null,
        earned: [],
        paid: [],
        not_yet: [
          { id: 'verified', reason: 'The listing is not claimed with domain proof.' },
          { id: 'trusted', reason: 'Needs the earned Live-Tested badge.' },
        ],
        badge_svg: badge,
        page,
        embed_markdown: `[![${name.replaceAll(/[[\]]/g, '')}](${badge})](${page})`,
        tiers_doc: `${BASE}/badges`,
      },
      buy: relayable ? 'relay_x402' : 'link_out',
      links: {
        listing: `/api/v1/listings/${id}`,
        page: `/listing/${id}`,
        badge_svg: `/badge/${id}.svg`,
        kit_manifest: `/api/v1/listings/${id}/kit.json`,
        ...(relayable && { call: `/api/v1/call/${id}` }),
      },
    }),
  )
}

function sampleTrust(score: number | null, buyers: number): Record<string, unknown> {
  if (score === null) return { score, evidence: 'no_payment_data' }
  return {
    score,
    evidence: 'verified_non_wash_payments',
    verified_buyers_30d: buyers,
    settlements_30d: buyers * 7,
    wash_flags: [],
    watch: [],
  }
}
