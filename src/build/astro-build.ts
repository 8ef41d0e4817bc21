import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AstroIntegration } from 'astro'
import * as v from 'valibot'
import { freezeCompiled } from '../compiled.ts'

/**
 * What a build needs of `astro build`: it starts while the content is still being read, so it waits
 * for the catalogue before it renders; pages that the release before made from the same key are not
 * rendered again; and it says which pages are written, so that they are compressed meanwhile.
 *
 * @param dir of the catalogue: `kept.json` holds the keys of the release before; `keys.json` gets
 *   those of every page that has one, by file
 */
export function renderChanged(dir: string): AstroIntegration {
  return {
    name: 'directory-changed-pages',
    hooks: {
      'astro:config:setup': ({ command, updateConfig }) => {
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
          const written: string[] = []
          return {
            ...prerenderer,
            async setup() {
              await untilCompiled()
              await prerenderer.setup?.()
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
              const hasKey = Object.hasOwn(keys, file)
              // Pages are made one after the other: those before this one are on the disk.
              if (written.length >= A_BATCH) process.send?.(written.splice(0))
              if (hasKey) written.push(file)
              freezeCompiled(hasKey)
              try {
                return await prerenderer.render(request, options)
              } finally {
                freezeCompiled(false)
              }
            },
          }
        }),
    },
  }
}

/** Pages that are reported at once. */
const A_BATCH = 32

/** @example toFile('/listing/x402.foo') → 'listing/x402.foo/index.html' */
function toFile(pathname: string): string {
  return `${pathname.replace(/^\/|\/$/g, '')}/index.html`
}

/** The build says so; a process that nobody started so has all from the beginning. */
async function untilCompiled(): Promise<void> {
  if (process.send === undefined) return
  process.once('disconnect', () => process.exit(1))
  process.send('bundled')
  await once(process, 'message')
  process.channel?.unref()
}

function readKeys(path: string): Record<string, string> {
  return v.parse(v.record(v.string(), v.string()), JSON.parse(readFileSync(path, 'utf8')))
}
