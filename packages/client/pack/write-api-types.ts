import { writeFileSync } from 'node:fs'
import { createOpenApi } from '../../../src/compile/openapi/create-openapi.ts'
import { SHARED_SCHEMAS } from '../../../src/compile/openapi/schemas.ts'
import { type PublishedApi, toApiTypes } from './schema-types.ts'

/** Answers that a client of the directory reads; what sellers do on their dashboard is not among them. */
const ANSWERS = [
  'SearchResponse',
  'CompactSearchResponse',
  'Listing',
  'Kit',
  'CompactKit',
  'Compare',
  'Categories',
  'Sources',
  'Stats',
  'Changes',
  'LintReport',
  'OperationsAnswer',
  'ProposalBody',
  'Proposed',
  'Problem',
]

const PARAMETERS = {
  SearchParameters: '/api/v1/search',
  ChangesParameters: '/api/v1/changes',
  LintParameters: '/api/v1/lint',
}

const FOLDER = 'packages/client/src/generated'

/** `npm run client:types`: the client's types, after a change of the interface. */
for (const { file, text } of toApiTypeFiles()) {
  writeFileSync(file, text)
  console.log(`wrote ${file}`)
}

/** The files of types, from the repository's root, and the right content of each. */
export function toApiTypeFiles(): { file: string; text: string }[] {
  // As it is published: through JSON, whose members the generator looks at one by one.
  const published: PublishedApi = JSON.parse(
    JSON.stringify(
      createOpenApi('https://waypost.example', { name: 'Waypost', strapline: '', reading: '' }),
    ),
  )
  const texts = toApiTypes(published, {
    roots: ANSWERS,
    shapes: Object.keys(SHARED_SCHEMAS),
    parameters: PARAMETERS,
  })
  return Object.entries(texts).map(([name, text]) => ({ file: `${FOLDER}/${name}.ts`, text }))
}
