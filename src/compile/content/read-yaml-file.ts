import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import type { Fault } from './fault.ts'
import { findYamlKeyLine, findYamlLine, parseYaml } from './parse-yaml.ts'
import { toSchemaFaults } from './schema-faults.ts'

export type YamlFile<Output> = { value: Output; faults: [] } | { value: null; faults: Fault[] }

/** Reads one YAML file of the content and holds it against its schema. */
export function readYamlFile<Schema extends v.GenericSchema>(
  root: string,
  file: string,
  schema: Schema,
): YamlFile<v.InferOutput<Schema>> {
  const text = readFileSync(join(root, file), 'utf8')
  const fail = (line: number, message: string, field = ''): Fault => ({
    file,
    line,
    field,
    message,
    severity: 'error',
  })
  const parsed = parseYaml(text)
  if (!parsed.ok)
    return { value: null, faults: parsed.faults.map(({ line, message }) => fail(line, message)) }
  const result = v.safeParse(schema, parsed.value)
  if (result.success) return { value: result.output, faults: [] }
  const faults = toSchemaFaults(schema, result.issues).map(
    ({ path, field, message, isUnknownKey }) =>
      fail(isUnknownKey ? findYamlKeyLine(text, path) : findYamlLine(text, path), message, field),
  )
  return { value: null, faults }
}
