import node from '@astrojs/node'
import { defineConfig, passthroughImageService } from 'astro/config'

/** The page of every component in every state: in development and in the demonstration alone. */
const designPage = {
  name: 'design-page',
  hooks: {
    'astro:config:setup': ({ command, injectRoute }) => {
      if (command !== 'dev' && process.env.DESIGN_PAGE !== 'on') return
      const entrypoint = new URL('./test/demo/design/design-page.astro', import.meta.url)
      injectRoute({ pattern: '/_design', entrypoint, prerender: true })
    },
  },
}

/**
 * Pages only: JSON, badges and the search index are written by `src/compile`, which runs this config
 * with its own `outDir` and the folder of the compiled catalogue in the environment.
 */
export default defineConfig({
  site: process.env.BASE_URL || 'http://localhost:4321',
  output: 'static',
  adapter: node({ mode: 'middleware' }),
  integrations: [designPage],
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
  vite: { build: { assetsInlineLimit: 0 } },
})
