import type { SiteTexts } from '../../src/domain/derived/tables.ts'

/** The texts of `tables/site.yaml`, as short as they may be. */
export const SITE_TEXTS: SiteTexts = {
  name: 'Waypost',
  short_name: 'Waypost',
  strapline: 'Find services an agent can call and pay for',
  reading: 'Search and reads need no key.',
  legal: [],
  public_badges: [],
  made_with: false,
  switches: { sellers: true, payments: true, business_model: true, roadmap: true, trust: true },
  showcase: [],
  featured_label: 'Ours, no fee paid.',
  sponsored_policy: 'Not sold.',
  ranking: 'BM25.',
  attribution: [],
  disclosure: 'Nobody paid.',
  comparison_ranking: 'By trust.',
  business_model: {
    summary: 'Free.',
    revenue: [{ id: 'reports', name: 'Reports', status: 'planned', note: 'Later.' }],
    never: ['A payment never changes a score.'],
    transaction_path: 'Never in it.',
  },
}
