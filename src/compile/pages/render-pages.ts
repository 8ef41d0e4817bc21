import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { sealCompiled } from '../../compiled.ts'
import { digestOf } from '../files/release-writer.ts'
import type { PageBundle } from './page-bundle.ts'

/** A page of this release, not rendered yet. */
export interface Page {
  /** Path below the public folder. */
  file: string
  /** Names all it is made from; null where the page reads the whole catalogue. */
  key: string | null
  /** @throws what the page throws */
  render(): Promise<Uint8Array>
}

/** What `prerender-entry.ts` exports. */
type Bundled = typeof import('./prerender-entry.ts')

/**
 * Every page of the catalogue that was handed over (`handOver`), with the means to render it.
 *
 * @throws Error when the bundle is not one
 */
export async function listPages({ dir, digest }: PageBundle): Promise<Page[]> {
  const bundled = await loadBundle(dir)
  const base = bundled.site ?? 'http://localhost'
  const paths = await bundled.readPaths()
  return paths.map(({ pathname, route, cacheKey }) => ({
    file: toFile(pathname, route.type),
    key: cacheKey === undefined ? null : digestOf(`${digest} ${cacheKey}`),
    async render() {
      const path = route.type === 'page' ? pathname.replace(/\/?$/, '/') : pathname
      const request = new Request(new URL(path, base))
      sealCompiled(cacheKey !== undefined)
      try {
        const response = await bundled.render(request, route)
        const expected = route.route === '/404' ? 404 : 200
        if (response.status !== expected) throw new Error(`it answered ${response.status}`)
        return new Uint8Array(await response.arrayBuffer())
      } catch (error) {
        throw new Error(`${pathname} could not be rendered`, { cause: error })
      } finally {
        sealCompiled(false)
      }
    },
  }))
}

async function loadBundle(dir: string): Promise<Bundled> {
  const folder = join(dir, 'prerender')
  const entry = readdirSync(folder).find((file) => file.startsWith('prerender-entry'))
  if (entry === undefined) throw new Error(`${folder} has no entry`)
  const bundled: Bundled = await import(pathToFileURL(join(folder, entry)).href)
  return bundled
}

/** @example toFile('/listing/x402.foo', 'page') → 'listing/x402.foo/index.html' */
function toFile(pathname: string, type: string): string {
  const path = pathname.replace(/^\/|\/$/g, '')
  if (type === 'endpoint') return path
  if (path === '404') return '404.html'
  return path === '' ? 'index.html' : `${path}/index.html`
}
