import node from '@astrojs/node'
import { defineConfig, passthroughImageService } from 'astro/config'
import { renderChanged } from './src/build/astro-build.ts'
import { ON_DEMAND_PAGES } from './src/domain/wire/routes.ts'

const pages = {
  name: 'pages',
  hooks: {
    'astro:route:setup': ({ route }) => {
      const address = `/${route.component.replace(/^src\/pages\/|\.astro$/g, '')}`
      route.prerender = !Object.values(ON_DEMAND_PAGES).includes(address)
    },
  },
}

/** A server reads the code of a release at once, while it surely exists. */
const ONE_CHUNK = {
  chunkFileNames: '[name].mjs',
  codeSplitting: { groups: [{ name: 'pages', test: /./ }] },
}

/**
 * A listing, the page with the tightest budget, has two sheets: what every page needs, and its own. The styles
 * of what it shows are global, each under a class of its component: scoped, they put 8 KB of attributes on it.
 */
const TWO_SHEETS = {
  codeSplitting: {
    groups: [
      {
        name: 'page',
        test: /src\/(styles|layouts\/page|components\/(frame\/(?!box|plain)|rows\/(meter|tile|listing-items|stack-table)))/,
        priority: 2,
      },
      {
        name: 'listing',
        test: /src\/(pages\/listing|components\/(listing|calls|evidence|try))\//,
        priority: 1,
      },
    ],
  },
}

/** A build gives `astro build` a folder of its own; a release is self-contained, far from node_modules. */
const { PAGES_DIR: dir } = process.env
const ofBuild = dir !== undefined && { outDir: `${dir}/out`, cacheDir: `${dir}/cache` }
const viteOfBuild = dir !== undefined && {
  cacheDir: `${dir}/vite`,
  resolve: { noExternal: true },
  environments: {
    ssr: { build: { rolldownOptions: { output: ONE_CHUNK } } },
    prerender: { build: { rolldownOptions: { output: TWO_SHEETS } } },
  },
}

/**
 * Pages only: JSON, badges and the search index are written by `src/build`, which runs `astro build`
 * and tells it the folder of the release.
 */
export default defineConfig({
  output: 'static',
  ...ofBuild,
  adapter: node({ mode: 'middleware' }),
  integrations: [pages, renderChanged(dir ?? '')],
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
