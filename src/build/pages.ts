import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isSwitchedOff, type Switches } from '../domain/derived/tables.ts'
import { readKeys, type WrittenPage } from './astro-build.ts'
import { type Folder, listFiles } from './folder.ts'
import { PROJECT } from './inputs.ts'

/** Static hosts answer `/search` with `search.html`; where functions run, a function answers `/search`. */
const PLACES: Readonly<Record<string, string>> = { 'search-file/index.html': 'search.html' }

export type Pages = ReturnType<typeof startPages>

/**
 * Starts `astro build` in its own process, which bundles while the content is read.
 * @param dir the folder for temporary files
 */
export function startPages(dir: string) {
  mkdirSync(dir, { recursive: true })
  const child = startAstro(dir)
  return {
    /**
     * Renders the catalogue's pages that the previous release lacks, and adds all pages to the
     * folder, with the code for pages that are rendered on demand.
     */
    async render(folder: Folder, switches: Switches): Promise<void> {
      const take = ([file, path]: WrittenPage) => {
        if (!isSwitchedOff(`/${file}`, switches)) folder.take(`public/${file}`, path)
      }
      writeFileSync(join(dir, 'kept.json'), JSON.stringify(folder.keptPages()))
      await child.render(folder.root, (pages) => pages.forEach(take))
      addPages(folder, dir, switches)
      addPageCode(folder, dir)
    },
    /** Ends the process and removes its temporary files. */
    end(): void {
      child.kill()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Variables that a bundler needs. */
const PASSED = ['PATH', 'HOME', 'TMPDIR', 'NODE_OPTIONS', 'NODE_COMPILE_CACHE']

/**
 * By default Astro takes 700 MiB while the content is being read; these flags save 200 MiB and cost
 * no time.
 */
const FRUGAL = ['--heap-growing-percent=30', '--max-semi-space-size=16']

/**
 * If a page's code seems to name an environment variable, Astro writes its value into that code. So no variable
 * may be set that is secret or depends on how the build was started. Telemetry is off.
 */
function startAstro(dir: string) {
  const passed = PASSED.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const env = {
    ...Object.fromEntries(passed),
    PAGES_DIR: dir,
    ASTRO_TELEMETRY_DISABLED: '1',
    // Astro encrypts the props of server islands with this key. There are no islands, and no request
    // reaches their route; a random key would only change each build's bytes.
    ASTRO_KEY: createHash('sha256').update('no server islands').digest('base64'),
  }
  const astro = join(
    dirname(createRequire(import.meta.url).resolve('astro/package.json')),
    'bin/astro.mjs',
  )
  const child = spawn(process.execPath, [...FRUGAL, astro, 'build', '--silent'], {
    cwd: PROJECT,
    env,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let text = ''
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    text = `${text}${part}`.slice(-4000)
  })
  const ended = once(child, 'close')
  const bundled = Promise.race([once(child, 'message'), ended])
  for (const each of [ended, bundled]) each.catch(() => undefined)
  return {
    async render(
      release: string,
      onWritten: (pages: readonly WrittenPage[]) => void,
    ): Promise<void> {
      await bundled
      // `renderChanged` sends these messages.
      child.on('message', onWritten)
      if (child.connected) child.send(release)
      const [code] = await ended
      if (code !== 0) throw new Error(`the pages could not be rendered: ${text.trim()}`)
    },
    kill: () => void child.kill('SIGKILL'),
  }
}

function addPages(folder: Folder, dir: string, switches: Switches): void {
  const client = join(dir, 'out/client')
  const keys = readKeys(join(dir, 'keys.json'))
  const isShown = (file: string) => !isSwitchedOff(`/${file}`, switches)
  for (const file of listFiles(client).filter(isShown))
    folder.take(`public/${PLACES[file] ?? file}`, join(client, file))
  for (const [file, key] of Object.entries(keys).filter(([file]) => isShown(file))) {
    const path = `public/${file}`
    if (!folder.reuse(path, key) && !folder.names.has(path))
      throw new Error(`the page ${file} was not rendered, and the previous release lacks it too`)
  }
}

/**
 * Astro writes the build's and the project's folders into its server files, where they only serve
 * as names. They are removed so that the same content gives the same bytes in any folder.
 */
function addPageCode(folder: Folder, dir: string): void {
  const server = join(dir, 'out/server')
  const root = PROJECT.replace(/\/$/, '')
  for (const file of listFiles(server)) {
    const text = readFileSync(join(server, file), 'utf8')
      .replaceAll(`${pathToFileURL(dir).href}/`, 'file:///release/')
      .replaceAll(pathToFileURL(PROJECT).href, 'file:///project/')
      .replaceAll(`${dir}/`, '/release/')
      .replaceAll(`${root}/`, '/project/')
    folder.write(`server/${file}`, text)
  }
}
