/**
 * RFC 8785: members by their UTF-16 units, no spaces, numbers as JavaScript writes them. Written out,
 * not sorted into an object: one would put keys that look like numbers first.
 *
 * @example toCanonicalJson({ b: 1, 10: 2, 9: [null] }) → '{"10":2,"9":[null],"b":1}'
 */
export function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (isFlatInOrder(value)) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${toCanonicalJson(member)}`).join(',')}}`
}

/** Such an object is written as it is: receipts are, a thousand a second. */
function isFlatInOrder(value: object): boolean {
  let before = ''
  for (const [name, member] of Object.entries(value)) {
    if (name < before || (typeof member === 'object' && member !== null)) return false
    before = name
  }
  return true
}
