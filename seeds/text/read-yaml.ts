import { parse } from 'yaml'

/**
 * YAML from outside, without aliases: otherwise a few lines could fill the memory.
 *
 * @returns undefined for a text that is not YAML
 */
export function readYaml(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 0, merge: false })
  } catch {
    return undefined
  }
}
