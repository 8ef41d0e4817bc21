import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { AstroIntegration } from 'astro'
import * as v from 'valibot'
import { freezeCompiled, RELEASE_DIR_VARIABLE } from '../compiled.ts'

/**
 * Changes `astro build`, which starts while the content is still being read: rendering waits for the
 * catalogue, pages that the previous release made from the same key are skipped, and keyed pages are
 * written here instead of by Astro, so that the build can compress them meanwhile.
 * @param dir the build's folder: `kept.json` contains the keys of the previous release's pages;
 *   `keys.json` gets the keys of this release's pages, by file
 */
export function renderChanged(dir: string): AstroIntegration {
  return {
    name: 'directory-changed-pages',
    hooks: {
      'astro:config:setup': ({ command, updateConfig }) => {
        // If the build is killed, its Astro process must not go on writing to the folder.
        process.once('disconnect', () => process.exit(1))
        // Astro leaves this input out if the prerenderer is not its own.
        const input = 'astro/entrypoints/prerender'
        const configEnvironment = (name: string) =>
          name === 'prerender' ? { build: { rolldownOptions: { input } } } : undefined
        if (command === 'build')
          updateConfig({
            vite: { plugins: [{ name: 'directory-prerender-entry', configEnvironment }] },
          })
      },
      'astro:build:start': ({ setPrerenderer }) =>
        setPrerenderer((prerenderer) => {
          const keys: Record<string, string> = {}
          const written: WrittenPage[] = []
          const pages = join(dir, 'pages')
          let count = 0
          return {
            ...prerenderer,
            async setup() {
              await untilCompiled()
              await prerenderer.setup?.()
              renderToStrings(prerenderer)
              mkdirSync(pages)
            },
            async getStaticPaths() {
              const kept = readKeys(join(dir, 'kept.json'))
              const paths = await prerenderer.getStaticPaths()
              for (const { pathname, cacheKey } of paths)
                if (cacheKey !== undefined) keys[toFile(pathname)] = cacheKey
              writeFileSync(join(dir, 'keys.json'), JSON.stringify(keys))
              return paths.filter(
                ({ pathname, cacheKey }) =>
                  cacheKey === undefined || kept[toFile(pathname)] !== cacheKey,
              )
            },
            async render(request, options) {
              const file = toFile(decodeURI(new URL(request.url).pathname))
              if (!Object.hasOwn(keys, file)) return await prerenderer.render(request, options)
              freezeCompiled(true)
              try {
                const made = await prerenderer.render(request, options)
                const response = made instanceof Response ? made : made.response
                // For a redirect Astro itself writes a page.
                if (response.status >= 300 && response.status < 400) return made
                const path = join(pages, String(count++))
                writeFileSync(path, await response.bytes())
                written.push([file, path])
              } finally {
                freezeCompiled(false)
              }
              if (written.length >= A_BATCH) process.send?.(written.splice(0))
              return NOTHING_LEFT
            },
            async teardown() {
              await prerenderer.teardown?.()
              await new Promise((resolve) => process.send?.(written, resolve))
            },
          }
        }),
    },
  }
}

/** A page's file in the release, and its path until the build moves it there. */
export type WrittenPage = readonly [file: string, path: string]

/** How many written pages are reported to the build at once. */
const A_BATCH = 32

/** Astro gets this for a page that is already written: it writes no file for a response without a body. */
const NOTHING_LEFT = new Response(null)

/** Astro streams pages if any page is rendered on demand; in a build, strings are faster. */
function renderToStrings(prerenderer: object): void {
  const app: unknown = Reflect.get(prerenderer, 'app')
  if (typeof app === 'object' && app !== null) Reflect.set(app, 'resolveStreaming', () => false)
}

/** @example toFile('/listing/x402.foo') → 'listing/x402.foo/index.html' */
function toFile(pathname: string): string {
  return `${pathname.replace(/^\/|\/$/g, '')}/index.html`
}

/** The build sends the release's folder; a process started separately has the folder in its environment. */
async function untilCompiled(): Promise<void> {
  if (process.send === undefined) return
  process.send('bundled')
  collectGarbage()
  const [release] = await once(process, 'message')
  process.env[RELEASE_DIR_VARIABLE] = String(release)
  process.channel?.unref()
}

/** Frees memory that this process no longer needs, before it waits for the other process. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect({ flavor: 'last-resort' })
}

/** Page keys, by file, as the build or its Astro process wrote them. */
export function readKeys(path: string): Record<string, string> {
  return v.parse(v.record(v.string(), v.string()), JSON.parse(readFileSync(path, 'utf8')))
}
