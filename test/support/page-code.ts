import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { registerHooks } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import type { AstroPrerenderer } from 'astro'

/**
 * Imported before `astro build`. Bundling is most of what that does, and depends on the project's code alone: the
 * first build with some code keeps its bundle, and later ones render the pages of other content from it.
 */
const KEPT = resolve('.cache/page-code')
const { PAGES_DIR: dir = '' } = process.env
const OUT = join(dir, 'out')
const CLIENT = join(OUT, 'client')
const CODE = join(OUT, 'server/.prerender')
if (isMainThread && dir !== '' && process.argv[1]?.endsWith('astro.mjs')) {
  const { digestCode } = await import('../../src/build/inputs.ts')
  const kept = join(KEPT, digestCode())
  if (!existsSync(kept)) keepIn(kept)
  else {
    await renderFrom(kept)
    process.exit()
  }
}

/** What Astro knows of its bundle beside the files. */
interface Bundle {
  prerenderEntryFileName: string
  pagesByKeys: Map<string, { styles: unknown }>
}

function keepIn(kept: string): void {
  Reflect.set(globalThis, 'keepPageCode', ({ prerenderEntryFileName, pagesByKeys }: Bundle) => {
    const pages = [...pagesByKeys].map(([key, { styles }]) => [key, { styles }])
    rmSync(KEPT, { recursive: true, force: true })
    cpSync(OUT, `${kept}.part`, { recursive: true })
    // Astro moves these once it has rendered.
    for (const code of ['server', 'server/.prerender']) {
      const assets = join(`${kept}.part`, code, '_astro')
      cpSync(assets, `${kept}.part/client/_astro`, { recursive: true })
      rmSync(assets, { recursive: true })
    }
    writeFileSync(
      `${kept}.part/bundle.json`,
      JSON.stringify({ dir, prerenderEntryFileName, pages }),
    )
    renameSync(`${kept}.part`, kept)
  })
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context)
      if (!url.endsWith('/core/build/default-prerenderer.js')) return loaded
      const source = String(loaded.source).replace(
        'app.setInternals(internals)',
        '$&; globalThis.keepPageCode(internals)',
      )
      return { ...loaded, source }
    },
  })
}

/** As `astro build` does once it has bundled. */
async function renderFrom(kept: string): Promise<void> {
  const { renderChanged } = await import('../../src/build/astro-build.ts')
  const prerenderer = await openBundle(kept)
  let rendering: AstroPrerenderer = prerenderer
  const setPrerenderer = (
    wrap: AstroPrerenderer | ((own: AstroPrerenderer) => AstroPrerenderer),
  ) => {
    rendering = typeof wrap === 'function' ? wrap(prerenderer) : wrap
  }
  // It takes nothing else of what Astro gives.
  Reflect.apply(Object(renderChanged(dir).hooks['astro:build:start']), null, [{ setPrerenderer }])
  await rendering.setup?.()
  for (const { pathname, route } of await rendering.getStaticPaths()) {
    const isFolder = route.type === 'page' && pathname !== '/404'
    const path = isFolder ? `${pathname.replace(/\/$/, '')}/` : pathname
    const request = new Request(`http://localhost${encodeURI(path)}`)
    const made = await rendering.render(request, { routeData: route })
    const { body } = made instanceof Response ? made : made.response
    if (body === null) continue
    const file = isFolder ? `${path}index.html` : path.replace(/^\/404$/, '/404.html')
    mkdirSync(dirname(join(CLIENT, file)), { recursive: true })
    writeFileSync(join(CLIENT, file), await new Response(body).bytes())
  }
  rmSync(CODE, { recursive: true })
  await rendering.teardown?.()
}

/** The kept bundle, put where this build shall find it. */
async function openBundle(kept: string) {
  const { listFiles } = await import('../../src/build/folder.ts')
  const { StaticPaths } = await import('astro/runtime/prerender/static-paths.js')
  cpSync(kept, OUT, { recursive: true })
  const bundle = JSON.parse(readFileSync(join(OUT, 'bundle.json'), 'utf8'))
  for (const file of listFiles(OUT).filter((name) => name.endsWith('.mjs'))) {
    const text = readFileSync(join(OUT, file), 'utf8')
    writeFileSync(join(OUT, file), text.replaceAll(bundle.dir, dir))
  }
  const { app } = await import(pathToFileURL(join(CODE, bundle.prerenderEntryFileName)).href)
  app.setInternals({ pagesByKeys: new Map(bundle.pages) })
  app.setOptions({ settings: { scripts: [] }, logger: app.logger })
  const prerenderer: AstroPrerenderer & { app: unknown } = {
    ...{ name: 'kept', app },
    getStaticPaths: () => new StaticPaths(app).getAll(),
    render: (request, { routeData }) => app.render(request, { routeData }),
  }
  return prerenderer
}
