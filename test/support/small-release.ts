import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ReleaseFile } from '../../src/domain/derived/release-file.ts'

/** Public files of a small release, some of them with compressed neighbours. */
const PAGES = Array.from({ length: 40 }, (_, n) => `page-${n}/index.html`)

/** Writes a release as a build would leave it, with a few small files in it. */
export function writeSmallRelease(dir: string, name: string): void {
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(dir, file)), { recursive: true })
    writeFileSync(join(dir, file), text)
    return { size: Buffer.byteLength(text), digest: digestOf(text) }
  }
  const manifest = PAGES.map((file) => {
    const { size, digest } = write(`public/${file}`, `${name} ${file}`)
    return { file, type: 'text/html; charset=utf-8', digest, size, br: 0, gz: 0 }
  })
  const code = `server/${'0'.repeat(32)}`
  const files = {
    'data/listings.ndjson': write('data/listings.ndjson', ''),
    'data/opted-out.ndjson': write('data/opted-out.ndjson', ''),
    'data/gone.ndjson': write('data/gone.ndjson', ''),
    'data/search.index': write('data/search.index', 'index'),
    'data/files.ndjson': write(
      'data/files.ndjson',
      manifest.map((row) => `${JSON.stringify(row)}\n`).join(''),
    ),
    [`${code}/entry.mjs`]: write(`${code}/entry.mjs`, 'export const handler = () => {}'),
  }
  const release: ReleaseFile = {
    name,
    base_url: 'https://waypost.example',
    shared_hosts: { platforms: [], tenants: [], webmail: [] },
    texts: {
      name: 'Waypost',
      short_name: 'Waypost',
      strapline: 'Find services',
      reading: 'Search and reads are free.',
      legal: [],
      public_badges: [],
      made_with: false,
      showcase: [],
      featured_label: 'Shown',
      sponsored_policy: 'None is sold.',
      ranking: 'By relevance.',
      attribution: [],

      disclosure: 'Nothing is for sale.',
      security: { contact: 'mailto:security@waypost.example', expires: '2099-01-01' },
      comparison_ranking: 'By price.',
      business_model: { summary: 'None.', revenue: [], never: [], transaction_path: 'None.' },
    },
    also_search: [],
    peers: [],
    search_choices: { kinds: {}, rails: {}, categories: [], sources: [] },
    tasks: [],
    page_code: code,
    compression: 'none',
    files,
  }
  write('data/release.json', JSON.stringify(release))
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
