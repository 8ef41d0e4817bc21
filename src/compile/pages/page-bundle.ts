import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import { digestCode } from '../../build/code-digest.ts'
import { digestOf, listFiles } from '../files/release-writer.ts'

const PROGRAM = fileURLToPath(new URL('./page-bundle-process.ts', import.meta.url))

export const BundleOptionsSchema = v.strictObject({
  /** Receives the bundle. */
  outDir: v.string(),
  /** Separate for each build, so that concurrent builds do not share one. */
  cacheDir: v.string(),
})
export type BundleOptions = v.InferOutput<typeof BundleOptionsSchema>

/** The pages as code, without any content or address: the same until the code or a package changes. */
export interface PageBundle {
  /** Holds `client/` (assets), `server/` (pages on demand) and `prerender/` (all others). */
  dir: string
  /** Hex digest of its inputs. */
  digest: string
}

/** Folder of `OUT_DIR/cache`. */
const FOLDER = 'page-bundle'

/** Inputs of a bundle in addition to its files. */
const DIGESTS = 'files.json'

/**
 * Bundles the pages with Astro, or reuses the complete bundle of an earlier build of the same code.
 * In a process of its own: a bundler holds half a gigabyte that it never frees.
 *
 * @param cacheDir cache folder of builds
 * @throws Error when Astro fails; its own messages are on stderr by then.
 */
export async function preparePageBundle(cacheDir: string): Promise<PageBundle> {
  const folder = join(cacheDir, FOLDER)
  const name = digestCode()
  const dir = join(folder, name)
  if (isComplete(dir)) return { dir, digest: name }
  rmSync(folder, { recursive: true, force: true })
  const work = join(folder, '.next')
  mkdirSync(work, { recursive: true })
  await bundle({ outDir: join(work, 'out'), cacheDir: join(work, 'cache') })
  writeFileSync(join(work, 'out', DIGESTS), JSON.stringify(digestFiles(join(work, 'out'))))
  renameSync(join(work, 'out'), dir)
  rmSync(work, { recursive: true, force: true })
  return { dir, digest: name }
}

/** Whether a bundle exists with exactly the files it was made with. */
function isComplete(dir: string): boolean {
  try {
    return readFileSync(join(dir, DIGESTS), 'utf8') === JSON.stringify(digestFiles(dir))
  } catch {
    return false
  }
}

/** The digest of every file by its path. */
function digestFiles(dir: string): Record<string, string> {
  const files = listFiles(dir).filter((file) => file !== DIGESTS)
  return Object.fromEntries(files.map((file) => [file, digestOf(readFileSync(join(dir, file)))]))
}

/** Exit code of the bundling process: the number of ENOSPC. */
export const DISK_FULL = 28

/** Variables that a bundler needs; DESIGN_PAGE adds the page of components. */
const PASSED = ['PATH', 'HOME', 'TMPDIR', 'NODE_OPTIONS', 'NODE_COMPILE_CACHE', 'DESIGN_PAGE']

/**
 * Astro writes variables that a page's code seems to name into that code: none that is a secret, or
 * depends on how the build was started, may be set. Telemetry is off.
 */
function toEnvironment(): NodeJS.ProcessEnv {
  const passed = PASSED.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(passed), ASTRO_TELEMETRY_DISABLED: '1' }
}

/** Left to itself it takes 700 MiB, while the content is read beside it; so it takes 200 less, and as long. */
const FRUGAL = ['--heap-growing-percent=30', '--max-semi-space-size=4']

async function bundle(options: BundleOptions): Promise<void> {
  const child = spawn(process.execPath, [...FRUGAL, PROGRAM, JSON.stringify(options)], {
    stdio: 'inherit',
    env: toEnvironment(),
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
  if (code === DISK_FULL) throw new Error('ENOSPC: the pages could not be bundled')
  if (code !== 0) throw new Error('the pages could not be bundled (see the messages above)')
}
