import { parseJson } from '../../src/domain/wire/parse-json.ts'

/** Keys whose values are words of closed lists: they read better without quotes. */
const PLAIN_KEYS: ReadonlySet<string> = new Set([
  'kind',
  'transport',
  'registry',
  'source',
  'method',
  'model',
  'cost',
  'tags',
  'rail',
  'rails',
  'in',
  'per',
  'type',
  'task',
  'assumed',
  'categories',
])

/** A word that no YAML 1.2 reader takes for anything but text. */
const PLAIN_WORD = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z][A-Za-z0-9_-]*$/i

/**
 * A value on one line of YAML, as a person would have written it; the same value gives the same
 * text.
 *
 * @param key the key it stands under, which decides on quotes
 * @example toFlow({ kind: 'mcp', url: 'https://a.example/' }) → '{ kind: mcp, url: "https://a.example/" }'
 */
export function toFlow(value: unknown, key = ''): string {
  if (Array.isArray(value)) return `[${value.map((item) => toFlow(item, key)).join(', ')}]`
  if (typeof value === 'string')
    return PLAIN_KEYS.has(key) && PLAIN_WORD.test(value) ? value : JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const pairs = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([name, item]) => `${toKey(name)}: ${toFlow(item, name)}`)
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`
}

function toKey(name: string): string {
  return PLAIN_WORD.test(name) ? name : JSON.stringify(name)
}

/**
 * Reads what `toFlow` wrote.
 *
 * @returns undefined for any other text
 * @example fromFlow('{ kind: mcp }') → { kind: 'mcp' }
 */
export function fromFlow(text: string): unknown {
  const json = text.replace(/"(?:[^"\\]|\\.)*"|[A-Za-z][A-Za-z0-9_-]*/g, (token, at: number) => {
    const isKey = /^\s*:\s/.test(text.slice(at + token.length, at + token.length + 3))
    if (token.startsWith('"') || (!isKey && /^(?:true|false|null)$/.test(token))) return token
    return /[0-9.]$/.test(text.slice(0, at)) ? token : `"${token}"`
  })
  return parseJson(json)
}
