import * as v from 'valibot'
import type { Fault } from '../../../src/compile/content/fault.ts'
import {
  MAX_FILE_BYTES,
  parseFrontMatter,
} from '../../../src/compile/content/parse-front-matter.ts'
import { findYamlKeyLine, findYamlLine } from '../../../src/compile/content/parse-yaml.ts'
import { toSchemaFaults } from '../../../src/compile/content/schema-faults.ts'
import {
  createListingFactsSchema,
  type ListingFacts,
} from '../../../src/domain/listing/listing-facts.ts'
import type { UrlRules } from '../../../src/domain/listing/target-url.ts'

/**
 * One listing file by itself, for whoever is writing it. What only the whole content knows (sources,
 * categories, duplicates) is `check`'s.
 *
 * @param file its path, as faults name it
 */
export function lintFile(
  file: string,
  text: string,
  rules: UrlRules,
): { facts: ListingFacts | null; faults: Fault[] } {
  const toFault = (line: number | null, message: string, field = ''): Fault => ({
    file,
    line,
    field,
    message,
    severity: 'error',
  })
  if (Buffer.byteLength(text) > MAX_FILE_BYTES)
    return { facts: null, faults: [toFault(1, `expected at most ${MAX_FILE_BYTES} bytes`)] }
  const parsed = parseFrontMatter(text)
  if (!parsed.ok)
    return { facts: null, faults: parsed.faults.map(({ line, message }) => toFault(line, message)) }
  const schema = createListingFactsSchema(rules)
  const result = v.safeParse(schema, parsed.data)
  if (result.success) return { facts: result.output, faults: [] }
  const faults = toSchemaFaults(schema, result.issues).map(
    ({ path, field, message, isUnknownKey }) => {
      const line = isUnknownKey
        ? findYamlKeyLine(parsed.yaml, path)
        : findYamlLine(parsed.yaml, path)
      return toFault(line, message, field)
    },
  )
  return { facts: null, faults }
}
