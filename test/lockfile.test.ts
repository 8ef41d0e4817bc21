import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** The part of npm's lock file that says what there is to install. */
interface Lock {
  packages: Record<
    string,
    {
      version?: string
      dev?: boolean
      hasInstallScript?: boolean
      optionalDependencies?: Record<string, string>
    }
  >
}

const lock: Lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))

test('the lock names the optional packages of every platform: npm ci refuses it otherwise', () => {
  const missing = Object.entries(lock.packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !isLocked(path, name)),
  )
  expect(missing).toEqual([])
})

test('what production needs stands in one list, and the lock does not keep it for development', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  const needed = Object.keys(dependencies)
  expect(needed.filter((name) => name in devDependencies)).toEqual([])
  expect(needed.filter((name) => lock.packages[`node_modules/${name}`]?.dev === true)).toEqual([])
})

test('every script of an install is decided: npm asks nobody to review one', () => {
  const { allowScripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  const scripts = Object.entries(lock.packages).filter(([, each]) => each.hasInstallScript === true)
  const names = scripts.map(([path]) => path.split('node_modules/').at(-1))
  expect(names.toSorted()).toEqual(Object.keys(allowScripts).toSorted())
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
