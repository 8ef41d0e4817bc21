/**
 * What this directory is called where names must be unique on the internet: its host, turned round.
 *
 * @example toReverseHost('https://directory.example') → 'example.directory'
 */
export function toReverseHost(baseUrl: string): string {
  return new URL(baseUrl).hostname.replace(/[[\]]/g, '').split(/[.:]/).reverse().join('.')
}

/** Key of our own statements inside another protocol's `_meta`. */
export function toMetaKey(baseUrl: string): string {
  return `${toReverseHost(baseUrl)}/listing`
}

/** The part of an id behind its prefix. @example toSlug('mcp.weather') → 'weather' */
export function toSlug(id: string): string {
  return id.slice(id.indexOf('.') + 1)
}
