import { isJsonObject } from '../../../src/domain/wire/parse-json.ts'
import { type Fault, faultOf } from '../../facts/refusal.ts'
import { readYaml } from '../../text/read-yaml.ts'

const FRONT_MATTER = /^\ufeff?---[ \t]*\r?\n([\s\S]*?\n)---[ \t]*(?:\r?\n|$)/

/** A plain page, as sellers publish for agents: its title, and its first paragraph. */
const TITLED =
  /^\ufeff?\s*# +(\S[^\n]*?)\s*\n\s*\n(?:> *)?([^\s#>`|-][^\n]*(?:\n(?:> *)?[^\s#>][^\n]*)*)/

/** Text that people don't see but a model reads. */
const HIDDEN = /[\u{e0000}-\u{e007f}\u202a-\u202e\u2066-\u2069]/u

/** Front matter of a `SKILL.md`: https://agentskills.io/specification */
export interface ReadSkill {
  name: string
  description: string
  license: string | null
  allowed: unknown
  body: string
}

export function readSkill(text: string): ReadSkill | Fault {
  if (HIDDEN.test(text))
    return faultOf('misleading_text', 'SKILL.md: expected text that can be seen')
  const [head, yaml] = FRONT_MATTER.exec(text) ?? []
  if (head === undefined || yaml === undefined) {
    const [, name, description] = TITLED.exec(text) ?? []
    return name === undefined || description === undefined
      ? faultOf('invalid_row', 'SKILL.md: expected front matter between two lines of ---')
      : { name, description, license: null, allowed: undefined, body: text }
  }
  const front = readYaml(yaml) ?? readYaml(quoteColons(yaml))
  if (!isJsonObject(front))
    return faultOf('invalid_row', 'SKILL.md: expected front matter in YAML, as names and values')
  const { name, description, license } = front
  if (typeof name !== 'string') return faultOf('no_name', 'SKILL.md: expected a name')
  if (typeof description !== 'string' || description.trim() === '')
    return faultOf('no_description', 'SKILL.md: expected a description')
  return {
    name,
    description,
    license: typeof license === 'string' ? license : null,
    allowed: front['allowed-tools'],
    body: text.slice(head.length),
  }
}

/** Many write a sentence with a colon, as their agents read front matter line by line. */
function quoteColons(yaml: string): string {
  return yaml.replace(
    /^([\w-]+): +([^\s'"[\]{}|>&*!%@#`].*: .*|[^\s'"[\]{}|>&*!%@#`].*:)$/gm,
    (_, name: string, said: string) => `${name}: ${JSON.stringify(said.trim())}`,
  )
}

/** Common spellings of well-known licences, each with its SPDX id. */
const WELL_KNOWN: readonly (readonly [RegExp, string])[] = [
  [/^(?:the )?mit(?: license| licence)?\b/i, 'MIT'],
  [/^(?:the )?apache(?: license| licence)?,?[ -]?(?:version |v)?2(?:\.0)?\b/i, 'Apache-2.0'],
  [/^cc[ -]by[ -]sa[ -]4/i, 'CC-BY-SA-4.0'],
  [/^cc[ -]by[ -]4/i, 'CC-BY-4.0'],
  [/^cc0\b/i, 'CC0-1.0'],
  [/^proprietary\b/i, 'Proprietary'],
]
const EXPRESSION = /^[A-Za-z][\w.+-]*(?: (?:OR|AND|WITH) [A-Za-z][\w.+-]*)*$/
const SAYS_NOTHING = /^(?:none|unknown|tbd|other|noassertion|unlicensed|license|custom)$/i

/**
 * A licence as a name, or where to find it; null where a text has neither.
 *
 * @example toLicence('Complete terms in LICENSE.txt') → 'see LICENSE.txt'
 */
export function toLicence(said: string | null | undefined): string | null {
  const text = said?.trim() ?? ''
  if (text === '' || text.length > 300 || SAYS_NOTHING.test(text)) return null
  const isTwo = / (?:OR|AND|WITH) /.test(text)
  const known = isTwo ? undefined : WELL_KNOWN.find(([pattern]) => pattern.test(text))?.[1]
  if (known !== undefined) return known
  const [file] = /\b(?:LICEN[CS]E|COPYING)(?:[.-][\w-]{1,20})?\b/.exec(text) ?? []
  if (file !== undefined) return `see ${file}`
  return EXPRESSION.test(text) && text.length <= 60 ? text : null
}
