import { expect, test } from 'vitest'
import { createOpenApi } from '../../src/build/openapi/create-openapi.ts'
import { SITE_TEXTS } from '../domain/site-samples.ts'
import { longTest } from '../support/long.ts'
import { findRedoclyErrors, findSpectralErrors } from './openapi-linters.mjs'

const text = JSON.stringify(createOpenApi('https://waypost.example', SITE_TEXTS))

test('Redocly finds no error in the document', async () => {
  expect(await findRedoclyErrors(JSON.parse(text))).toEqual([])
  const broken = JSON.parse(text)
  broken.paths['/api/v1/stats'].get.operationId = 'search'
  expect(await findRedoclyErrors(broken)).toEqual(['operation-operationId-unique'])
})

longTest('Spectral finds no error in the document', async () => {
  expect(await findSpectralErrors(JSON.parse(text))).toEqual([])
  const broken = { ...JSON.parse(text), info: { title: 'Half' } }
  expect(await findSpectralErrors(broken)).toContain('oas3-schema')
})
