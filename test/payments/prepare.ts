import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const HERE = fileURLToPath(new URL('.', import.meta.url))

/**
 * Installs the packages under test into this folder when they are absent or of another lock file.
 *
 * @returns null when everything is there, else why it cannot be.
 */
export function preparePaymentPackages(): string | null {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return `there is no chain binary for ${process.platform} ${process.arch} among the packages`
  if (!isInstalled()) {
    console.log('test/payments: installing the payment packages under test (npm ci) …')
    const install = spawnSync('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], {
      cwd: HERE,
      encoding: 'utf8',
      timeout: 300_000,
      // Without the preload that keeps tests on this machine: packages come from a registry.
      env: { ...process.env, NODE_OPTIONS: '' },
    })
    if (install.status !== 0) return `npm ci failed: ${lastLines(install.stderr)}`
  }
  return existsSync(`${HERE}node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil`)
    ? null
    : 'the package @foundry-rs/anvil-linux-amd64 brought no binary'
}

/** npm writes the lock it installed beside the packages; names and versions must be ours. */
function isInstalled(): boolean {
  const installed = versionsIn(`${HERE}node_modules/.package-lock.json`)
  const wanted = versionsIn(`${HERE}package-lock.json`)
  return wanted?.every((one) => installed?.includes(one)) ?? false
}

function versionsIn(file: string): string[] | null {
  if (!existsSync(file)) return null
  const { packages } = JSON.parse(readFileSync(file, 'utf8'))
  return Object.entries<{ version?: string; optional?: boolean }>(packages)
    .filter(([path, { optional }]) => path.startsWith('node_modules/') && optional !== true)
    .map(([path, { version }]) => `${path}@${version}`)
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-3).join(' ')
}

if (import.meta.main) {
  const missing = preparePaymentPackages()
  console.log(missing ?? 'The payment packages under test are there')
}
