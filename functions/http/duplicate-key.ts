/**
 * The first key that stands twice in the outermost object of valid JSON, or null. `JSON.parse` keeps
 * the last of two silently, where a proxy in front may have judged the first.
 *
 * @example findDuplicateKey('{"a":1,"\\u0061":2}') → 'a'
 */
export function findDuplicateKey(json: string): string | null {
  const seen = new Set<string>()
  let depth = 0
  let isKeyNext = false
  for (const [token] of json.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      depth += 1
      isKeyNext = depth === 1
    } else if (token === '}' || token === ']') depth -= 1
    else if (token === ',') isKeyNext = depth === 1
    else if (isKeyNext) {
      const key = String(JSON.parse(token))
      if (seen.has(key)) return key
      seen.add(key)
      isKeyNext = false
    }
  }
  return null
}

/** Strings whole, so that no bracket inside one counts, and the marks that open, close and part. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],]/g
