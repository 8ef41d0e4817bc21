import { expect, test } from 'vitest'
import { completeOperations } from '../../src/domain/sources/join-rows.ts'

const OWN = { method: 'POST' as const, url: 'https://rpc.example/eth' }

test('what people wrote of a task stays, whatever sources say of the same operation', () => {
  const own = { ...OWN, task: 'rpc_call', map: { method: 'method' }, send: { id: 1 } }
  const stated = [{ ...OWN, description: 'An Ethereum node.' }]
  expect(completeOperations([own], stated, false)).toEqual([
    { ...own, description: 'An Ethereum node.' },
  ])
})
