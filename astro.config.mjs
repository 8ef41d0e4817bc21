import node from '@astrojs/node'
import { defineConfig, passthroughImageService } from 'astro/config'
import { renderChanged } from './src/build/astro-build.ts'

/** The pages that a build prints, by address; each lives in the room of what it shows. Those that a
 * function answers for, and what is no page, are files of `src/pages`. */
const PAGES = {
  '/': 'home/home-page',
  '/404': 'reference/nothing-here-page',
  '/badges': 'badges/badges-page',
  '/business-model': 'reference/business-model-page',
  '/category/[category]/[...page]': 'rows/category-page',
  '/compare': 'compare/compare-list-page',
  '/compare/[slug]': 'compare/comparison-page',
  '/docs': 'docs/docs-page',
  '/docs/[group]': 'docs/docs-group-page',
  '/gone/[id]': 'listing/gone-page',
  '/keys': 'reference/keys-page',
  '/kind/[kind]/[...page]': 'rows/kind-page',
  '/listing/[id]': 'listing/listing-page',
  '/market': 'reference/market-page',
  '/not-listed': 'reference/not-listed-page',
  '/policies/[policy]': 'reference/policy-page',
  '/privacy': 'reference/privacy-page',
  '/problems': 'reference/problems-page',
  '/problems/[code]': 'reference/problem-page',
  '/roadmap': 'reference/roadmap-page',
  '/sellers': 'sellers/sellers-page',
  '/sources': 'reference/sources-page',
  '/stats': 'reference/stats-page',
  '/tasks': 'tasks/tasks-page',
  '/tasks/[id]': 'tasks/task-page',
  '/trust': 'trust/trust-page',
}

const pages = {
  name: 'pages',
  hooks: {
    'astro:config:setup': ({ command, injectRoute }) => {
      const add = (pattern, file) => {
        injectRoute({ pattern, entrypoint: new URL(file, import.meta.url), prerender: true })
      }
      for (const [pattern, name] of Object.entries(PAGES)) add(pattern, `./src/site/${name}.astro`)
      // Every component in every state: in development and in the demonstration alone.
      if (command === 'dev' || process.env.DESIGN_PAGE === 'on')
        add('/_design', './test/demo/design/design-page.astro')
    },
  },
}

/** A server reads the code of a release at once, while it surely exists. */
const ONE_CHUNK = {
  chunkFileNames: '[name].mjs',
  codeSplitting: { groups: [{ name: 'pages', test: /./ }] },
}

/** A build gives `astro build` a folder of its own; a release is self-contained, far from node_modules. */
const { PAGES_DIR: dir, COMPILED_DIR: compiled = '' } = process.env
const ofBuild = dir !== undefined && { outDir: `${dir}/out`, cacheDir: `${dir}/cache` }
const viteOfBuild = dir !== undefined && {
  cacheDir: `${dir}/vite`,
  resolve: { noExternal: true },
  environments: { ssr: { build: { rolldownOptions: { output: ONE_CHUNK } } } },
}

/**
 * Pages only: JSON, badges and the search index are written by `src/build`, which runs `astro build`
 * with the folder of the compiled catalogue in the environment.
 */
export default defineConfig({
  output: 'static',
  ...ofBuild,
  adapter: node({ mode: 'middleware' }),
  integrations: [pages, renderChanged(compiled)],
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
  vite: { build: { assetsInlineLimit: 0 }, ...viteOfBuild },
})
