import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createBatches } from '../../functions/server/node-answers.ts'

/** Each searches at the end of the turn, and answers when the others have searched. */
async function askAll(count: number): Promise<string[]> {
  const turnEnds = createBatches()
  const steps: string[] = []
  const ask = async () => {
    await turnEnds()
    steps.push('search')
    await null
    steps.push('answer')
  }
  await Promise.all(Array.from({ length: count }, ask))
  return steps
}

const times = (step: string, count: number) => Array<string>(count).fill(step)

test('what is asked in one turn is searched together, and answered then', async () => {
  expect(await askAll(3)).toEqual([...times('search', 3), ...times('answer', 3)])
})

test('nobody waits for more than 31 others', async () => {
  expect(await askAll(40)).toEqual([
    ...times('search', 32),
    ...times('answer', 32),
    ...times('search', 8),
    ...times('answer', 8),
  ])
})

test('who asks later goes on later, and nobody is forgotten', async () => {
  const turnEnds = createBatches()
  const steps: string[] = []
  const first = turnEnds().then(() => steps.push('first'))
  await nextTurn()
  const second = turnEnds().then(() => steps.push('second'))
  expect(steps).toEqual(['first'])
  await Promise.all([first, second])
  expect(steps).toEqual(['first', 'second'])
})
