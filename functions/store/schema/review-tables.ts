import type { PROPOSAL_STATES } from '../../../src/domain/proposals/proposal-views.ts'

/** What a stranger proposed. `found` and `file` are JSON; `email` is null once it is decided. */
export interface ProposalTable {
  id: string
  url: string
  origin: string
  note: string
  email: string | null
  found: string
  /** The file as a person edited it; null while it is the one made of `found`. */
  file: string | null
  state: (typeof PROPOSAL_STATES)[number]
  reason: string | null
  listing_id: string | null
  created_at: number
  settled_at: number | null
}

/** What somebody says is wrong about a listing, and what people made of it. */
export interface DisputeTable {
  id: string
  listing_id: string
  reason: string
  /** JSON list. */
  evidence_urls: string
  state: 'waiting' | 'accepted' | 'refused'
  /** What the person who decided says of it. */
  note: string | null
  created_at: number
  settled_at: number | null
}

/** What a server's own probes saw of a listing: evidence as its file would hold it, JSON. */
export interface ProbeEvidenceTable {
  listing_id: string
  evidence: string
  probed_at: number
}
