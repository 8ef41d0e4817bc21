import { expect, test } from 'vitest'
import { createResponseMemory } from '../../functions/search/response-memory.ts'

const bounds = { kept: 2, bytes: 1000 }

test('what was given back is lent again, to one response only', () => {
  const memory = createResponseMemory(bounds)
  const first = memory.take(600)
  memory.giveBack(first.subarray(0, 600))
  memory.giveBack(first)
  const [second, third] = [memory.take(1000), memory.take(10)]
  expect(second.buffer).toBe(first.buffer)
  expect(third.buffer).not.toBe(first.buffer)
})

test('two responses at once never share memory', () => {
  const memory = createResponseMemory(bounds)
  const taken = Array.from({ length: 10 }, () => memory.take(500))
  expect(new Set(taken.map(({ buffer }) => buffer)).size).toBe(10)
})

test('only so much is kept', () => {
  const memory = createResponseMemory(bounds)
  const taken = Array.from({ length: 10 }, () => memory.take(500))
  for (const buffer of taken) memory.giveBack(buffer)
  const again = Array.from({ length: 10 }, () => memory.take(500))
  const known = new Set(taken.map(({ buffer }) => buffer))
  expect(again.filter(({ buffer }) => known.has(buffer))).toHaveLength(2)
})

test('a larger response gets memory of its own, which is not kept', () => {
  const memory = createResponseMemory(bounds)
  const large = memory.take(5000)
  expect(large.length).toBe(5000)
  memory.giveBack(large)
  expect(memory.take(1000).buffer).not.toBe(large.buffer)
})
