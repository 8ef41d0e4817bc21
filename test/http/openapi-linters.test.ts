import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectral from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { expect, test } from 'vitest'
import { createOpenApi } from '../../src/build/openapi/create-openapi.ts'
import { SITE_TEXTS } from '../domain/site-samples.ts'

const text = JSON.stringify(createOpenApi('https://waypost.example', SITE_TEXTS))

test('Redocly finds no error in the document', async () => {
  const config = await createConfig({ extends: ['recommended'] })
  expect(await findRedoclyErrors(text, config)).toEqual([])
  const broken = JSON.parse(text)
  broken.paths['/api/v1/stats'].get.operationId = 'search'
  expect(await findRedoclyErrors(JSON.stringify(broken), config)).toEqual([
    'operation-operationId-unique',
  ])
})

test('Spectral finds no error in the document', async () => {
  const linter = new spectral.Spectral()
  linter.setRuleset(new spectral.Ruleset({ extends: [rulesets.oas] }))
  expect(await findSpectralErrors(linter, JSON.parse(text))).toEqual([])
  const broken = { ...JSON.parse(text), info: { title: 'Half' } }
  expect(await findSpectralErrors(linter, broken)).toContain('oas3-schema')
})

type Config = Awaited<ReturnType<typeof createConfig>>

async function findRedoclyErrors(source: string, config: Config): Promise<string[]> {
  const problems = await lintFromString({ source, config, absoluteRef: 'openapi.json' })
  return problems.flatMap(({ severity, ruleId }) => (severity === 'error' ? [ruleId] : []))
}

async function findSpectralErrors(
  linter: InstanceType<typeof spectral.Spectral>,
  document: unknown,
): Promise<unknown[]> {
  const problems = await linter.run(JSON.stringify(document))
  return problems.filter(({ severity }) => severity === 0).map(({ code }) => code)
}
