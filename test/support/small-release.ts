import { publishRelease } from '../../src/compile/release/publish-release.ts'
import type { ReleaseFile } from '../../src/domain/derived/release-file.ts'
import { openObjects } from '../../src/store/objects.ts'
import { putRelease } from '../../src/store/releases.ts'

/** Public files of a small release. */
const PAGES = Array.from({ length: 40 }, (_, n) => `public/page-${n}/index.html`)

const CODE = `server/${'0'.repeat(32)}`

/** Publishes a release as a build does, with a few small files in it. */
export function publishSmallRelease(...given: Parameters<typeof toSmallRelease>): void {
  const [outDir] = given
  const { objects, release, files } = toSmallRelease(...given)
  publishRelease(outDir, objects, release, files)
}

/** Puts it into the store without switching to it. */
export function putSmallRelease(...given: Parameters<typeof toSmallRelease>): void {
  const [outDir] = given
  const { objects, release, files } = toSmallRelease(...given)
  putRelease(outDir, objects, release, files)
}

/**
 *
 * @param edited other files, or other bytes of them
 */
function toSmallRelease(
  outDir: string,
  name: string,
  edited: Readonly<Record<string, string | Uint8Array>> = {},
) {
  const objects = openObjects(outDir, new Set())
  const contents = {
    ...Object.fromEntries(PAGES.map((path) => [path, `${name} ${path}`])),
    'data/listings.ndjson': '',
    'data/opted-out.ndjson': '',
    'data/gone.ndjson': '',
    'data/search.index': 'index',
    [`${CODE}/entry.mjs`]: 'export const handler = () => {}',
    ...edited,
  }
  const files = Object.entries(contents).map(([path, text]) => ({ path, ...objects.put(text) }))
  const release: Omit<ReleaseFile, 'list'> = {
    name,
    base_url: 'https://waypost.example',
    shared_hosts: { platforms: [], tenants: [], webmail: [] },
    texts: {
      name: 'Waypost',
      short_name: 'Waypost',
      strapline: 'Find services',
      reading: 'Search and reads need no key.',
      legal: [],
      public_badges: [],
      made_with: false,
      switches: { sellers: true, payments: true, business_model: true, roadmap: true, trust: true },
      showcase: [],
      featured_label: 'Shown',
      sponsored_policy: 'None is sold.',
      ranking: 'By relevance.',
      attribution: [],

      disclosure: 'Nothing is for sale.',
      comparison_ranking: 'By price.',
      business_model: { summary: 'None.', revenue: [], never: [], transaction_path: 'None.' },
    },
    also_search: [],
    search_choices: { kinds: {}, rails: {}, categories: [], sources: [], updated: '2026-11-20' },
    tasks: [],
    not_listed: [],
    other_hosts: [],
    page_code: CODE,
  }
  return { objects, release, files }
}
