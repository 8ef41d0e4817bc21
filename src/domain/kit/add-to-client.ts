import * as v from 'valibot'
import { parseJson } from '../wire/json.ts'
import type { KitView } from './kit-view.ts'

const SettingsSchema = v.union([
  v.object({ servers: v.record(v.string(), v.looseObject({})) }),
  v.object({ mcpServers: v.record(v.string(), v.looseObject({})) }),
])

/** Links for clients that document one, made from the configuration that is shown to copy. */
export function toAddLinks({ snippets }: Pick<KitView, 'snippets'>) {
  return [
    toLink('Cursor', snippets.cursor, (name, config) => {
      const query = new URLSearchParams({ name, config: toBase64(config) })
      return `cursor://anysphere.cursor-deeplink/mcp/install?${query}`
    }),
    toLink('VS Code', snippets.vscode, (name, config) => {
      const text = JSON.stringify({ name, ...config })
      return `vscode:mcp/install?${encodeURIComponent(text)}`
    }),
  ].flatMap((link) => link ?? [])
}

function toLink(
  label: string,
  snippet: string | undefined,
  toUrl: (name: string, config: object) => string,
) {
  if (snippet === undefined) return null
  const settings = v.safeParse(SettingsSchema, parseJson(snippet))
  if (!settings.success) return null
  const { output } = settings
  const [entry] = Object.entries('servers' in output ? output.servers : output.mcpServers)
  if (entry === undefined) return null
  return { label, url: toUrl(entry[0], entry[1]), isUnfinished: /<[A-Z_]+>/.test(snippet) }
}

/** Plain ASCII before it is encoded: not every reader of it knows UTF-8. */
function toBase64(config: object): string {
  const toEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return btoa(JSON.stringify(config).replace(/[\u0080-\uffff]/g, toEscape))
}
