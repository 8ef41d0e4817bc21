import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createOpenApi } from '../../src/build/openapi/create-openapi.ts'
import { type PageBundle, preparePageBundle } from '../../src/compile/pages/page-bundle.ts'
import { toCompiledListings, toCompiledSite } from '../../src/compile/pages/write-compiled.ts'
import { beginDump } from '../../src/compile/release/write-dump.ts'
import { listPages, type Page } from '../../src/compile/release/write-public.ts'
import { writeTrustLedger } from '../../src/compile/release/write-trust-ledger.ts'
import { provideCompiled } from '../../src/compiled.ts'
import { SITE_TEXTS } from '../domain/site-samples.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { createKeptFiles } from '../support/kept-files.ts'
import { catalogue } from '../support/own-catalogue.ts'

/** Pages of the content that is served, rendered one by one by the code the fixture release was built with. */
export interface RealPages {
  /** Ids, the most to print first. */
  ids: readonly string[]
  /** HTML of a listing's page. */
  render(id: string): Promise<Buffer>
  /** A style sheet, script or face of the pages. */
  readAsset(path: string): Buffer
}

export async function readRealPages(): Promise<RealPages> {
  const { BASE_URL: baseUrl, OUT_DIR } = FIXTURE_ENV
  const listings = toCompiledListings(catalogue)
  const { files } = createKeptFiles()
  const dump = beginDump(files)
  for (const { view } of listings) dump.write(Buffer.from(`${JSON.stringify(view)}\n`))
  const site = toCompiledSite(
    catalogue,
    dump.finish(),
    writeTrustLedger(files, [], catalogue.trustPayees),
  )
  const byId = new Map(listings.map((listing) => [listing.view.id, listing]))
  provideCompiled({ site, listings, byId }, createOpenApi(baseUrl, SITE_TEXTS))
  const bundle = await preparePageBundle(join(OUT_DIR, 'cache'))
  const pages = await toPages(bundle)
  const assets = new Map<string, Buffer>()
  const sizes = listings.map(({ view, kit, description_html }) => ({
    id: view.id,
    size: JSON.stringify(kit).length + description_html.length,
  }))
  return {
    ids: sizes.sort((a, b) => b.size - a.size).map(({ id }) => id),
    async render(id) {
      const html = await pages.get(`listing/${id}/index.html`)?.render()
      if (html === undefined) throw new Error(`expected a page of ${id}`)
      return Buffer.from(html)
    },
    readAsset(path) {
      const asset = assets.get(path) ?? readFileSync(join(bundle.dir, 'client', path))
      assets.set(path, asset)
      return asset
    },
  }
}

async function toPages(bundle: PageBundle): Promise<Map<string, Page>> {
  const pages = await listPages(bundle)
  return new Map(pages.map((page) => [page.file, page]))
}
