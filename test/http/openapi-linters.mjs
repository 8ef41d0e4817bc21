/**
 * Codes of the errors that others' linters find in an OpenAPI document. Plain JavaScript, with its types
 * beside it: checking theirs took a quarter of `npm run types`.
 */

/** @param {object} document */
export async function findRedoclyErrors(document) {
  const { createConfig, lintFromString } = await import('@redocly/openapi-core')
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({
    source: JSON.stringify(document),
    config,
    absoluteRef: 'openapi.json',
  })
  return problems.flatMap(({ severity, ruleId }) => (severity === 'error' ? [ruleId] : []))
}

/** @param {object} document */
export async function findSpectralErrors(document) {
  const { default: spectral } = await import('@stoplight/spectral-core')
  const { default: rulesets } = await import('@stoplight/spectral-rulesets')
  const linter = new spectral.Spectral()
  linter.setRuleset(new spectral.Ruleset({ extends: [rulesets.oas] }))
  const problems = await linter.run(JSON.stringify(document))
  return problems.filter(({ severity }) => severity === 0).map(({ code }) => code)
}
