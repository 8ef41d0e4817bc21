import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { AstroIntegration } from 'astro'
import * as v from 'valibot'
import { freezeCompiled, RELEASE_DIR_VARIABLE } from '../compiled.ts'

/**
 * What a build needs of `astro build`: it starts while the content is still being read, so it waits
 * for the catalogue before it renders; pages that the release before made from the same key are not
 * rendered again; and it writes those that have a key itself, and says where, so that they are
 * compressed meanwhile.
 *
 * @param dir of the build: `kept.json` holds the keys of the release before; `keys.json` gets those
 *   of every page that has one, by file
 */
export function renderChanged(dir: string): AstroIntegration {
  return {
    name: 'directory-changed-pages',
    hooks: {
      'astro:config:setup': ({ command, updateConfig }) => {
        // A build that was killed must not find its folder written to by what it started.
        process.once('disconnect', () => process.exit(1))
        // Astro leaves it out where the prerenderer is not its own.
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
                // Where it leads elsewhere Astro writes a page that says so.
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

/** A page by its file, and where it lies until it is taken. */
export type WrittenPage = readonly [file: string, path: string]

/** Pages that are reported at once. */
const A_BATCH = 32

/** Astro would make a folder for each page, which is moved from there: it writes none without a body. */
const NOTHING_LEFT = new Response(null)

/** Astro streams pages where others are rendered on demand, though it holds strings to be faster in a build. */
function renderToStrings(prerenderer: object): void {
  const app: unknown = Reflect.get(prerenderer, 'app')
  if (typeof app === 'object' && app !== null) Reflect.set(app, 'resolveStreaming', () => false)
}

/** @example toFile('/listing/x402.foo') → 'listing/x402.foo/index.html' */
function toFile(pathname: string): string {
  return `${pathname.replace(/^\/|\/$/g, '')}/index.html`
}

/** The build says where; a process that nobody started so knows it from the beginning. */
async function untilCompiled(): Promise<void> {
  if (process.send === undefined) return
  process.send('bundled')
  collectGarbage()
  const [release] = await once(process, 'message')
  process.env[RELEASE_DIR_VARIABLE] = String(release)
  process.channel?.unref()
}

/** A process that waits for the other would keep what it does not need any more beside it. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect({ flavor: 'last-resort' })
}

/** Of pages, by file: one of these two processes wrote them. */
export function readKeys(path: string): Record<string, string> {
  return v.parse(v.record(v.string(), v.string()), JSON.parse(readFileSync(path, 'utf8')))
}
