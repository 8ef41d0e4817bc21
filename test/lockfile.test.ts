import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** The part of npm's lock file that says what there is to install. */
interface Lock {
  packages: Record<string, { version?: string; optionalDependencies?: Record<string, string> }>
}

const lock: Lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))

test('the lock names the optional packages of every platform: npm ci refuses it otherwise', () => {
  const missing = Object.entries(lock.packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !isLocked(path, name)),
  )
  expect(missing).toEqual([])
})

/** Looks where Node would: beside the package, then in each folder above it. */
function isLocked(path: string, name: string): boolean {
  const above = path
    .split('node_modules/')
    .map((_, i, parts) => parts.slice(0, i + 1).join('node_modules/'))
  return ['', `${path}/`, ...above].some(
    (folder) => `${folder}node_modules/${name}` in lock.packages,
  )
}
