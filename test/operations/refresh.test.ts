import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

interface Step {
  env?: Record<string, string>
  name?: string
  run?: string
}
const { jobs } = parse(readFileSync('.github/workflows/refresh.yml', 'utf8'))
const steps: Step[] = jobs.refresh.steps
const at = (command: string) => steps.findIndex(({ run = '' }) => run.includes(command))

test('the daily refresh seeds, probes and measures before it builds', () => {
  const order = ['run -s seed', 'run -s probe', 'run -s measure', 'run -s build'].map(at)
  expect(order).not.toContain(-1)
  expect(order).toEqual([...order].sort((a, b) => a - b))
})

test('the daily refresh says so where there is no chain to read', () => {
  expect(steps[at('run -s measure')]?.run).toContain('::warning::nothing was measured')
})

test('only what reads the ledger is given secrets', () => {
  const given = steps.filter(({ env = {} }) => Object.values(env).join().includes('secrets.'))
  expect(given).toEqual([steps[at('run -s measure')], steps[at('run -s build')]])
})
