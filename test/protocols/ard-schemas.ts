import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

/**
 * What ARD 0.91 says of its documents, as schemas of our own: the terms and requirements of §4.2 and
 * §4.3, the manifest of §5.1, the answers of §5.3. Answers are closed; entries are open, so that terms
 * of other namespaces fit, and what has no prefix must be a term of §4.2.
 */
const text = { type: 'string', minLength: 1 }
const uri = { type: 'string', format: 'uri' }
const texts = { type: 'array', items: text }
const object = { type: 'object' }
const urn = { type: 'string', pattern: '^urn:air:[a-zA-Z0-9.-]+(:[a-zA-Z0-9._-]+)+$' }
const closed = (properties: Record<string, object>, optional: Record<string, object> = {}) => ({
  type: 'object',
  properties: { ...properties, ...optional },
  required: Object.keys(properties),
  additionalProperties: false,
})
const required = {
  identifier: urn,
  displayName: text,
  type: { type: 'string', pattern: '^\\S+/\\S+$' },
}
const terms = {
  '@context': { oneOf: [uri, object, { type: 'array' }] },
  '@id': text,
  url: uri,
  data: object,
  description: text,
  tags: texts,
  capabilities: texts,
  representativeQueries: { ...texts, minItems: 2, maxItems: 5 },
  version: text,
  updatedAt: { type: 'string', format: 'date-time' },
  metadata: object,
  trustManifest: { type: 'object', required: ['identity'] },
}
const open = { patternProperties: { '^[a-z]+:[a-z]+$': {} }, additionalProperties: false }
const entry = {
  ...closed(required, terms),
  ...open,
  oneOf: [{ required: ['url'] }, { required: ['data'] }],
}
const found = {
  ...closed(
    { ...required, score: { type: 'integer', minimum: 0, maximum: 100 }, source: uri },
    terms,
  ),
  ...open,
}
const schemas = {
  entry,
  manifest: {
    type: 'object',
    properties: { entries: { type: 'array', items: entry } },
    required: ['entries'],
  },
  found: closed({ results: { type: 'array', items: found } }, { pageToken: text }),
  error: closed({
    errorCode: {
      enum: [
        'INVALID_ARGUMENT',
        'NOT_FOUND',
        'METHOD_NOT_ALLOWED',
        'RATE_LIMIT_EXCEEDED',
        'NOT_IMPLEMENTED',
      ],
    },
    message: text,
  }),
}

const ajv = new Ajv2020({ allErrors: true, strict: false })
addFormats.default(ajv)

/** @returns what of a document does not fit, in ajv's words; empty where all does */
export function findArdFaults(name: keyof typeof schemas, document: unknown): string[] {
  const validate = ajv.compile(schemas[name])
  validate(document)
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}
