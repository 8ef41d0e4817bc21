import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Memory, openMemory, remember } from '../../src/compile/files/memory.ts'

let dir: string
let path: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'waypost-memory-'))
  path = join(dir, 'cache/parts')
  const first = openMemory(path, 'version 1')
  for (const input of ['tide', 'weather']) upper(first, input)
  first.save()
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** What each call had to make. */
const made: string[] = []
function upper(memory: Memory, input: string): string {
  const bytes = remember(memory, input, () => {
    made.push(input)
    return Buffer.from(`${input.toUpperCase()}\n\0é`)
  })
  return Buffer.from(bytes).toString()
}

function madeFor(memory: Memory, ...inputs: string[]): string[] {
  made.length = 0
  for (const input of inputs) expect(upper(memory, input)).toBe(`${input.toUpperCase()}\n\0é`)
  return [...made]
}

test('what was made once is not made again, in this build or the next', () => {
  expect(madeFor(openMemory(path, 'version 1'), 'weather', 'tide', 'storm', 'storm')).toEqual([
    'storm',
  ])
})

test('code of another version remembers nothing', () => {
  expect(madeFor(openMemory(path, 'version 2'), 'weather')).toEqual(['weather'])
})

test('what a build did not ask for is forgotten when it saves, once it is much of the file', () => {
  const second = openMemory(path, 'version 1')
  madeFor(second, 'tide')
  second.save()
  expect(madeFor(openMemory(path, 'version 1'), 'tide', 'weather')).toEqual(['weather'])
})

test('a file with another byte anywhere, or cut short, is not believed', () => {
  const whole = readFileSync(path)
  for (let at = 0; at < whole.length; at += 7) {
    const damaged = Buffer.from(whole)
    damaged[at] = (damaged[at] ?? 0) ^ 1
    writeFileSync(path, damaged)
    expect(madeFor(openMemory(path, 'version 1'), 'weather'), `byte ${at}`).toEqual(['weather'])
  }
  for (const length of [0, 10, whole.length - 1]) {
    writeFileSync(path, whole)
    truncateSync(path, length)
    expect(madeFor(openMemory(path, 'version 1'), 'weather'), `${length} bytes`).toEqual([
      'weather',
    ])
  }
})

test('what a killed build wrote half of is made again, and what comes after it is remembered', () => {
  truncateSync(path, readFileSync(path).length - 1)
  const second = openMemory(path, 'version 1')
  expect(madeFor(second, 'tide', 'weather', 'storm')).toEqual(['weather', 'storm'])
  second.save()
  expect(madeFor(openMemory(path, 'version 1'), 'tide', 'weather', 'storm')).toEqual([])
})

test('where nothing can be written a build goes on', () => {
  const nowhere = openMemory(join(path, 'a file is no folder'), 'version 1')
  expect(madeFor(nowhere, 'weather')).toEqual(['weather'])
  expect(() => nowhere.save()).not.toThrow()
})
