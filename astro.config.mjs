import node from '@astrojs/node'
import { defineConfig } from 'astro/config'

/**
 * Pages only: JSON, badges and the search index are written by `src/build`, which runs this config
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
  // Astro answers 403 to writes without an Origin header; agents send none. The functions judge
  // origins on the cookie routes themselves.
  security: { checkOrigin: false },
  build: {
    format: 'directory',
    // The content security policy allows no inline style or script.
    inlineStylesheets: 'never',
  },
  vite: { build: { assetsInlineLimit: 0 } },
})
