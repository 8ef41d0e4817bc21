import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, test } from 'vitest'
import { createOpenApi } from '../../src/build/openapi/create-openapi.ts'
import { SITE_TEXTS } from '../domain/site-samples.ts'
import { longTest } from '../support/long.ts'

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

longTest('Spectral finds no error in the document', async () => {
  const { default: spectral } = await import('@stoplight/spectral-core')
  const { default: rulesets } = await import('@stoplight/spectral-rulesets')
  const linter = new spectral.Spectral()
  linter.setRuleset(new spectral.Ruleset({ extends: [rulesets.oas] }))
  const findErrors = async (document: unknown) => {
    const problems = await linter.run(JSON.stringify(document))
    return problems.filter(({ severity }) => severity === 0).map(({ code }) => code)
  }
  expect(await findErrors(JSON.parse(text))).toEqual([])
  expect(await findErrors({ ...JSON.parse(text), info: { title: 'Half' } })).toContain(
    'oas3-schema',
  )
})

type Config = Awaited<ReturnType<typeof createConfig>>

async function findRedoclyErrors(source: string, config: Config): Promise<string[]> {
  const problems = await lintFromString({ source, config, absoluteRef: 'openapi.json' })
  return problems.flatMap(({ severity, ruleId }) => (severity === 'error' ? [ruleId] : []))
}
