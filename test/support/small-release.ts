import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { recordChanges } from '../../src/build/changes.ts'
import { openFolder, switchTo } from '../../src/build/folder.ts'
import type { ReleaseFile } from '../../src/domain/derived/tables.ts'
import { SITE_TEXTS } from '../domain/site-samples.ts'

/** Public files of a small release. */
const PAGES = Array.from(
  { length: process.env.LONG_TESTS === '1' ? 40 : 10 },
  (_, n) => `public/page-${n}/index.html`,
)

export const NO_DAYS = {
  ...{ listing: null, seed: null, probe: null },
  ...{ price: null, payments: null, reported_use: null },
}

const RELEASE: Omit<ReleaseFile, 'digest' | 'files' | 'checksums'> = {
  base_url: 'https://waypost.example',
  shared_hosts: { platforms: [], tenants: [], webmail: [] },
  texts: SITE_TEXTS,
  also_search: [],
  search_choices: {
    kinds: {},
    rails: {},
    categories: [],
    sources: [],
    ages: { newest: NO_DAYS, median: NO_DAYS },
  },
  tasks: [],
  not_listed: [],
  other_hosts: [],
}

/** Makes a release as a build does, with a few small files in it, switches to it and logs what changed. */
export async function publishSmallRelease(
  outDir: string,
  name: string,
  edited: Readonly<Record<string, string | Uint8Array>> = {},
): Promise<void> {
  const folder = openFolder({ outDir, name, inputs: 'small', hasCopies: true })
  for (const [path, content] of Object.entries(contentsOf(name, edited)))
    folder.write(path, content)
  await folder.finish({ ...RELEASE, digest: name })
  switchTo(outDir, name)
  recordChanges(outDir, name, new Date())
}

/** Puts it in place without switching to it. */
export function putSmallRelease(
  outDir: string,
  name: string,
  edited: Readonly<Record<string, string | Uint8Array>> = {},
): void {
  const folder = join(outDir, 'releases', name)
  for (const [path, content] of Object.entries(contentsOf(name, edited))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  const release = { ...RELEASE, digest: name, files: { count: 0, bytes: 0 }, checksums: {} }
  writeFileSync(join(folder, 'release.json'), JSON.stringify(release))
}

function contentsOf(
  name: string,
  edited: Readonly<Record<string, string | Uint8Array>>,
): Record<string, string | Uint8Array> {
  return {
    ...Object.fromEntries(PAGES.map((path) => [path, `${name} ${path} ${'words '.repeat(300)}`])),
    'data/listings.ndjson': '',
    'data/opted-out.ndjson': '',
    'data/gone.ndjson': '',
    'data/search.index': 'index',
    'server/entry.mjs': 'export const handler = () => {}',
    ...edited,
  }
}
