import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import node from '@astrojs/node'
import { defineConfig, passthroughImageService } from 'astro/config'

/**
 * Pages only: JSON, badges and the search index are written by `src/compile`, which runs this config
 * with its own `outDir` and the folder of the compiled catalogue in the environment.
 */
export default defineConfig({
  site: process.env.BASE_URL || 'http://localhost:4321',
  output: 'static',
  adapter: node({ mode: 'middleware' }),
  // No page keeps state on the server through Astro: sellers have their own session.
  session: false,
  trailingSlash: 'ignore',
  compressHTML: true,
  devToolbar: { enabled: false },
  // Pages hold no images to work on; without this the server bundle carries an image library.
  image: { service: passthroughImageService() },
  // Astro answers 403 to writes without an Origin header; agents send none. The functions judge
  // origins on the cookie routes themselves.
  security: { checkOrigin: false },
  build: {
    format: 'directory',
    // The content security policy allows no inline style or script.
    inlineStylesheets: 'never',
  },
  vite: {
    plugins: [searchChoices()],
    build: { assetsInlineLimit: 0 },
  },
})

/**
 * The filter values of the search page as a module. That page is rendered on demand, when the
 * compiled catalogue is no longer there to be read, so they go into its bundle.
 */
function searchChoices() {
  const name = 'virtual:search-choices'
  return {
    name: 'search-choices',
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load: (id) =>
      id === `\0${name}` ? `export default ${JSON.stringify(readChoices())}` : undefined,
  }
}

function readChoices() {
  const folder = process.env.WAYPOST_COMPILED_DIR
  if (!folder) return { total: 0, kinds: {}, rails: {}, categories: [], sources: [] }
  const { stats, categories, sources } = JSON.parse(readFileSync(join(folder, 'site.json'), 'utf8'))
  const { total, by_kind, by_rail } = stats.listings
  const toChoice = ({ id, name, listings }) => ({ id, name, listings })
  return {
    total,
    kinds: by_kind,
    rails: by_rail,
    categories: categories.categories.map(toChoice),
    sources: sources.sources.filter(({ listings }) => listings > 0).map(toChoice),
  }
}
