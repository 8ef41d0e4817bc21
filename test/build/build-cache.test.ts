import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  type BuildCache,
  keepInMemory,
  memoize,
  openBuildCache,
} from '../../src/compile/files/build-cache.ts'

let dir: string
let path: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'waypost-cache-'))
  path = join(dir, 'cache/parts')
  const first = openBuildCache(path, 'version 1')
  for (const input of ['tide', 'weather']) upper(first, input)
  first.close()
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** What each call had to make. */
const made: string[] = []
function upper(cache: BuildCache, input: string): string {
  const bytes = memoize(cache, input, () => {
    made.push(input)
    return Buffer.from(`${input.toUpperCase()}\n\0é`)
  })
  return Buffer.from(bytes).toString()
}

function madeFor(cache: BuildCache, ...inputs: string[]): string[] {
  made.length = 0
  for (const input of inputs) expect(upper(cache, input)).toBe(`${input.toUpperCase()}\n\0é`)
  return [...made]
}

test('what was made once is not made again, in this build or the next', () => {
  expect(madeFor(openBuildCache(path, 'version 1'), 'weather', 'tide', 'storm', 'storm')).toEqual([
    'storm',
  ])
})

test('code of another version remembers nothing', () => {
  expect(madeFor(openBuildCache(path, 'version 2'), 'weather')).toEqual(['weather'])
})

test('what a build did not ask for is forgotten when it saves, once it is much of the file', () => {
  const second = openBuildCache(path, 'version 1')
  madeFor(second, 'tide')
  second.close()
  expect(madeFor(openBuildCache(path, 'version 1'), 'tide', 'weather')).toEqual(['weather'])
})

test('a file with another byte anywhere, or cut short, gives what was made or nothing', () => {
  const whole = readFileSync(path)
  for (let at = 0; at < whole.length; at += 61) {
    const damaged = Buffer.from(whole)
    damaged[at] = (damaged[at] ?? 0) ^ 1
    writeFileSync(path, damaged)
    const cache = openBuildCache(path, 'version 1')
    madeFor(cache, 'weather', 'tide')
    cache.close()
  }
  for (const length of [0, 10, 20_000]) {
    writeFileSync(path, whole)
    truncateSync(path, length)
    const cache = openBuildCache(path, 'version 1')
    expect(madeFor(cache, 'weather'), `${length} bytes`).toEqual(['weather'])
    cache.close()
  }
})

test('a row whose bytes a disk changed is made again', () => {
  const bytes = readFileSync(path)
  const at = bytes.indexOf('WEATHER')
  expect(at).toBeGreaterThan(0)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(path, bytes)
  const cache = openBuildCache(path, 'version 1')
  expect(madeFor(cache, 'tide', 'weather')).toEqual(['weather'])
  cache.close()
  expect(madeFor(openBuildCache(path, 'version 1'), 'weather')).toEqual([])
})

test('what a killed build had not closed is made again', () => {
  const killed = openBuildCache(path, 'version 1')
  madeFor(killed, 'storm')
  const next = openBuildCache(path, 'version 1')
  expect(madeFor(next, 'tide', 'storm')).toEqual(['storm'])
})

test('where nothing can be written a build goes on', () => {
  const nowhere = openBuildCache(join(path, 'a file is not a folder'), 'version 1')
  expect(madeFor(nowhere, 'weather')).toEqual(['weather'])
  expect(() => nowhere.close()).not.toThrow()
})

test('in memory the latest rows are kept, and those that are asked for', () => {
  const cache = keepInMemory(2)
  expect(madeFor(cache, 'tide', 'weather', 'tide', 'storm')).toEqual(['tide', 'weather', 'storm'])
  expect(madeFor(cache, 'tide', 'storm', 'weather')).toEqual(['weather'])
  cache.close()
  expect(madeFor(cache, 'tide')).toEqual(['tide'])
})
