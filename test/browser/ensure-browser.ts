import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { chromium } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const MAC = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'
/** Milliseconds one way of installing may take. */
const INSTALL_TIMEOUT = 300_000

/**
 * Path of a Chromium the browser tests can start: `CHROMIUM_PATH`, one on the path, or Playwright's
 * own. Without any, one is installed, and it is said how.
 *
 * @throws when there is none and none can be installed.
 */
export function ensureBrowser(): string {
  const found = findBrowser()
  if (found !== null) return found
  for (const [what, install] of INSTALLS) {
    console.log(`No Chromium was found. Trying ${what} (a few minutes)…`)
    install()
    const installed = findBrowser()
    if (installed !== null) {
      console.log(`Installed ${installed}`)
      return installed
    }
  }
  throw new Error(
    'The browser tests need Chromium. Install it and set CHROMIUM_PATH to its executable.',
  )
}

/** @throws when `CHROMIUM_PATH` names a file that does not exist. */
export function findBrowser(): string | null {
  const chosen = process.env.CHROMIUM_PATH ?? ''
  if (chosen !== '') {
    if (existsSync(chosen)) return chosen
    throw new Error(`CHROMIUM_PATH: expected an executable that exists, got ${chosen}`)
  }
  const folders = (process.env.PATH ?? '').split(delimiter)
  const candidates = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))
  const own = chromium.executablePath()
  return [...candidates, MAC, own].find((path) => path !== '' && existsSync(path)) ?? null
}

const isRoot = process.platform === 'linux' && process.getuid?.() === 0

const INSTALLS: readonly [what: string, install: () => void][] = [
  ['"playwright-core install chromium"', () => runPlaywright(isRoot ? ['--with-deps'] : [])],
  [
    '"apt-get install chromium"',
    () => {
      if (!isRoot) return console.log('That needs root on a Debian or Ubuntu system.')
      run('apt-get', ['update', '-qq'])
      run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'])
    },
  ],
]

function runPlaywright(options: string[]): void {
  const cli = join(createRequire(import.meta.url).resolve('playwright-core'), '..', 'cli.js')
  run(process.execPath, [cli, 'install', ...options, 'chromium'])
}

function run(command: string, args: string[]): void {
  const { status, error, stderr } = spawnSync(command, args, {
    timeout: INSTALL_TIMEOUT,
    encoding: 'utf8',
  })
  if (status !== 0)
    console.log(`${command} ${args[0]} failed: ${error?.message ?? stderr.trim().slice(-300)}`)
}

if (import.meta.main) {
  try {
    console.log(`Browser tests use ${ensureBrowser()}`)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
