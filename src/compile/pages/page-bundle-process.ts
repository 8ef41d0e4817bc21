import { createHash } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type AstroIntegration, build } from 'astro'
import * as v from 'valibot'
import { PROJECT } from '../../build/code-digest.ts'
import { isDiskFull } from '../../domain/wire/operator-error.ts'
import { type BundleOptions, BundleOptionsSchema, DISK_FULL } from './page-bundle.ts'

/** The program that `preparePageBundle` runs; its only argument is the options as JSON. */

/**
 * A server reads all of it at once, while the release surely exists. A hash in the name would cover
 * text from which folders are removed below.
 */
const ONE_CHUNK = {
  chunkFileNames: '[name].mjs',
  codeSplitting: { groups: [{ name: 'pages', test: /./ }] },
}

const ENTRY = fileURLToPath(new URL('./prerender-entry.ts', import.meta.url))

// Tools that watch the project fail outside our promises.
process.on('uncaughtException', end)
await bundle(v.parse(BundleOptionsSchema, JSON.parse(process.argv[2] ?? 'null'))).catch(end)

/** The exit code signals a full disk, so that the operator gets a sentence instead of a stack. */
function end(error: unknown): never {
  if (isDiskFull(error)) process.exit(DISK_FULL)
  console.error(error)
  process.exit(1)
}

/** Leaves `client/`, `server/` and `prerender/` in `outDir`. */
async function bundle({ outDir, cacheDir }: BundleOptions): Promise<void> {
  // Astro encrypts the props of server islands with it. There are none, and no request reaches
  // their route; a random key would only change each build's bytes.
  process.env.ASTRO_KEY = createHash('sha256').update('no server islands').digest('base64')
  await build({
    root: PROJECT,
    outDir,
    cacheDir,
    logLevel: 'warn',
    integrations: [keepBundle(outDir)],
    vite: {
      cacheDir: `${cacheDir}/vite`,
      logLevel: 'warn',
      // A release is self-contained: its folder may be anywhere, far from node_modules.
      resolve: { noExternal: true },
      environments: { ssr: { build: { rolldownOptions: { output: ONE_CHUNK } } } },
      plugins: [{ name: 'directory-prerender-entry', configEnvironment: toEntry }],
    },
  })
  forgetFolders(join(outDir, 'server'), [outDir, cacheDir])
}

/** A renderer must bring its entry too; Astro drops a config's entry for it. */
function toEntry(environment: string) {
  return environment === 'prerender' ? { build: { rolldownOptions: { input: ENTRY } } } : undefined
}

/**
 * Astro bundles the pages, renders them and throws the bundle away. Here it renders none and keeps
 * the bundle: later builds render the pages they need (`prerender-entry.ts`) without bundling.
 */
function keepBundle(outDir: string): AstroIntegration {
  return {
    name: 'directory-keep-bundle',
    hooks: {
      'astro:build:start': ({ setPrerenderer }) =>
        setPrerenderer({
          name: 'directory:none',
          getStaticPaths: async () => [],
          render: () => Promise.reject(new Error('no page was to be rendered')),
          teardown: async () => {
            cpSync(join(outDir, 'server/.prerender'), join(outDir, 'prerender'), {
              recursive: true,
            })
          },
        }),
    },
  }
}

/**
 * Astro writes the folders of the build and of the project into its server files, where they only
 * serve as names. They are removed so that the same content gives the same bytes in any folder.
 */
function forgetFolders(serverDir: string, folders: readonly string[]): void {
  const root = PROJECT.replace(/\/$/, '')
  const files = readdirSync(serverDir, { recursive: true, withFileTypes: true })
  for (const entry of files.filter((file) => file.isFile())) {
    const path = join(entry.parentPath, entry.name)
    let text = readFileSync(path, 'utf8')
    for (const folder of folders)
      text = text.replaceAll(`${pathToFileURL(folder).href}/`, 'file:///release/')
    text = text.replaceAll(pathToFileURL(PROJECT).href, 'file:///project/')
    writeFileSync(path, text.replaceAll(`${root}/`, '/project/'))
  }
}
