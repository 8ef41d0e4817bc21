import * as v from 'valibot'
import {
  MAX_SKILL_ENTRIES,
  SKILL_SHAPES,
  SKILL_SOURCE,
  type SkillFacts,
} from '../../src/domain/sources/source-row.ts'
import { isJsonObject, memberOf, parseJson } from '../../src/domain/wire/json.ts'
import {
  chooseRows,
  type Fault,
  faultOf,
  findCallableUrlFault,
  foreignText,
  type HostRules,
  type Mapped,
  type MapRules,
  mapReported,
  type Refusal,
  refuse,
  toSlug,
} from '../facts/map-rows.ts'
import type { SellerReader } from '../fetch/read-sellers.ts'
import {
  type ListedFacts,
  parseAddresses,
  readYaml,
  type SeedSource,
} from '../fetch/read-source.ts'

const MAX_FILES = 5000
/** Most characters in a whole `SKILL.md`; a row is limited to this length too. */
const MAX_SKILL_LENGTH = 256 * 1024

/** A `SKILL.md` in a public repository or on its own host, with the files next to it. */
const RowSchema = v.object({
  repo: v.pipe(
    foreignText,
    v.regex(
      /^(?:[A-Za-z0-9][\w-]{0,38}\/[\w.-]{1,100}|https:\/\/[a-z0-9.-]+)$/,
      'expected owner/name on GitHub, or the origin of a host',
    ),
  ),
  path: v.pipe(
    foreignText,
    v.regex(
      /^(?:[\w@][\w.@-]*\/|\.[\w-]+\/){0,12}(?:SKILL|skill)\.md$/,
      'expected a path to SKILL.md',
    ),
  ),
  commit: v.nullish(v.pipe(v.string(), v.regex(/^[0-9a-f]{40}$/, 'expected a commit'))),
  text: v.nullable(
    v.pipe(
      v.string('expected the text of SKILL.md, or null if the file is gone'),
      v.maxLength(MAX_SKILL_LENGTH),
    ),
  ),
  files: v.nullish(v.pipe(v.array(v.string()), v.maxLength(MAX_FILES))),
  /** The repository's own licence, for a skill that names none. */
  license: v.nullish(foreignText),
})
type Row = v.InferOutput<typeof RowSchema>

function mapSkill(row: Row, rules: MapRules): Mapped {
  const { repo, path, text } = row
  const folder = path.replace(/\/?SKILL\.md$/i, '')
  const host = repo.startsWith('https://') ? repo.slice('https://'.length) : null
  const owner = host ?? repo.split('/')[0] ?? ''
  const key = folder === '' ? (host ?? repo) : `${host ?? repo}/${folder}`
  if (text === null)
    return refuse(key, faultOf('deleted', 'expected a file, got none: it was deleted'))
  const read = readSkill(text)
  if ('reason' in read) return refuse(key, read)
  const licence = licenceOf(row, read)
  if (licence === null)
    return refuse(
      key,
      faultOf('no_licence', `expected a licence, got ${JSON.stringify(read.license)}`),
    )
  const below = folder === '' ? '' : `/tree/HEAD/${folder}`
  const url = host === null ? `https://github.com/${repo}${below}` : `${repo}/${path}`
  return mapReported(
    {
      key,
      prefix: 'kit',
      slug: slugOf(key),
      names: [`${read.name} by ${owner}`],
      // An agent follows all of the text, so all of it is scanned for orders against its user.
      stated: [read.description, read.body],
      facts: { ...FREE_KIT, url, sources: [{ source: SKILL_SOURCE, ref: url }] },
      skill: toFacts(row, { ...read, text, licence }, rules),
      // The seller's sentence is not copied: a person writes ours.
      withheld: ['summary'],
    },
    rules,
  )
}

const FREE_KIT = {
  kind: 'kit',
  pricing: { model: 'unknown' },
  cost: 'free',
  auth: { type: 'none' },
} as const

/** The skill's own licence, else that of the file next to it, else its repository's. */
function licenceOf({ files, license }: Row, read: ReadSkill): string | null {
  const beside = files?.find((file) => /^(?:LICEN[CS]E|COPYING)(?:\.\w+)?$/.test(file))
  const licence = toLicence(read.license) ?? toLicence(beside) ?? toLicence(license)
  return licence !== null && SKILL_SHAPES.licence.test(licence) ? licence : null
}

function toFacts(
  { commit, files: named }: Row,
  { text, licence, allowed }: { text: string; licence: string; allowed: unknown },
  rules: MapRules,
): SkillFacts {
  const files = tidy(named ?? [], SKILL_SHAPES.file)
  return {
    licence,
    ...(commit && { commit }),
    ...(files.length > 0 && { files }),
    ...readNeeds({ text, files, allowed }, rules),
  }
}

/** @example slugOf('acme/skills/skills/pdf') → 'acme.pdf-1f0c3a7b' */
function slugOf(key: string): string {
  const names = key.split('/')
  return toSlug(`${names[0]}.${names.at(-1)}`, key.toLowerCase(), {
    room: 80,
    nameless: 'skill',
    isPlain: false,
  })
}

function toListedAddresses(listings: readonly ListedFacts[]): string[] {
  const urls = listings.flatMap(({ facts: { kind, url = '' } }) =>
    kind === 'kit' && url.startsWith('https://github.com/') ? [url] : [],
  )
  return [...new Set(urls)].sort()
}

export const skills: SeedSource = {
  id: 'skills',
  title: 'skills for agents, by the SKILL.md of public repositories',
  liveUrl: '',
  lists: ['skills'],
  expected:
    'rows with repo, path, commit, text and files; or addresses of skills on GitHub, of a skill.md or of an index.json',
  isRow: ({ repo, path }) => typeof repo === 'string' && typeof path === 'string',
  readText: parseAddresses,
  fromContent: toListedAddresses,
  follow: followSkills,
  choose: chooseRows(RowSchema, 'path', mapSkill),
}

const FRONT_MATTER = /^\ufeff?---[ \t]*\r?\n([\s\S]*?\n)---[ \t]*(?:\r?\n|$)/

/** The title and first paragraph of a plain page, such as sellers publish for agents. */
const TITLED =
  /^\ufeff?\s*# +(\S[^\n]*?)\s*\n\s*\n(?:> *)?([^\s#>`|-][^\n]*(?:\n(?:> *)?[^\s#>][^\n]*)*)/

/** Text that people don't see but a model reads. */
const HIDDEN = /[\u{e0000}-\u{e007f}\u202a-\u202e\u2066-\u2069]/u

/** Front matter of a `SKILL.md`: https://agentskills.io/specification */
interface ReadSkill {
  name: string
  description: string
  license: string | null
  allowed: unknown
  body: string
}

function readSkill(text: string): ReadSkill | Fault {
  if (HIDDEN.test(text)) return faultOf('misleading_text', 'SKILL.md: expected visible text')
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

/** Quotes values that contain a colon: many authors don't, because their agents read front matter line by line. */
function quoteColons(yaml: string): string {
  return yaml.replace(
    /^([\w-]+): +([^\s'"[\]{}|>&*!%@#`].*: .*|[^\s'"[\]{}|>&*!%@#`].*:)$/gm,
    (_, name: string, stated: string) => `${name}: ${JSON.stringify(stated.trim())}`,
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
 * A licence as a name, or where to find it; null if the text has neither.
 * @example toLicence('Complete terms in LICENSE.txt') → 'see LICENSE.txt'
 */
export function toLicence(stated: string | null | undefined): string | null {
  const text = stated?.trim() ?? ''
  if (text === '' || text.length > 300 || SAYS_NOTHING.test(text)) return null
  const isTwo = / (?:OR|AND|WITH) /.test(text)
  const known = isTwo ? undefined : WELL_KNOWN.find(([pattern]) => pattern.test(text))?.[1]
  if (known !== undefined) return known
  const [file] = /\b(?:LICEN[CS]E|COPYING)(?:[.-][\w-]{1,20})?\b/.exec(text) ?? []
  if (file !== undefined) return `see ${file}`
  return EXPRESSION.test(text) && text.length <= 60 ? text : null
}

/** Ways in which a shell, Node and Python read an environment variable, and `export`, which sets one. */
const READ =
  /(?:\$\{?|\bprocess\.env\.|\bos\.environ\[["']|\bos\.(?:environ\.get|getenv)\(["']|\bexport )([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b/g
/** A variable that a script sets for itself. */
const SET = /^[ \t]*([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)=/gm
/** Variables that the agent itself sets, such as a plugin's folder. */
const AGENTS_OWN = /^(?:CLAUDE|CODEX|SKILL|PLUGIN)_|_ROOT$/

const CODE_BLOCK = /^[ \t]*```[^\n]*\n([\s\S]*?)^[ \t]*```/gm
const ADDRESS = /\bhttps?:\/\/[^\s"'`<>()|\\]+/g

const PROGRAMS: Readonly<Record<string, string>> = {
  py: 'Python',
  js: 'Node.js',
  mjs: 'Node.js',
  cjs: 'Node.js',
  ts: 'Node.js',
  sh: 'Bash',
  rb: 'Ruby',
  go: 'Go',
}

/** A skill's requirements, as far as its folder shows them: only names, none of its sentences. */
function readNeeds(
  { text, files, allowed }: { text: string; files: readonly string[]; allowed: unknown },
  rules: HostRules,
): Pick<SkillFacts, 'env' | 'tools' | 'programs' | 'hosts'> {
  const own = new Set([...text.matchAll(SET)].map(([, name]) => name))
  const read = [...text.matchAll(READ)].map(([, name = '']) => name)
  const code = [...text.matchAll(CODE_BLOCK)].map(([, block = '']) => block).join('\n')
  const hosts = [...code.matchAll(ADDRESS)].flatMap(([address]) => {
    const host = URL.parse(address)?.host ?? ''
    return findCallableUrlFault(`https://${host}/`, rules) === null ? [host] : []
  })
  return {
    env: tidy(
      read.filter((name) => !own.has(name) && !AGENTS_OWN.test(name)),
      SKILL_SHAPES.env,
    ),
    tools: tidy(toTools(allowed), SKILL_SHAPES.tool),
    programs: tidy(
      files.filter(isScript).flatMap((file) => PROGRAMS[/\.(\w+)$/.exec(file)?.[1] ?? ''] ?? []),
    ),
    hosts: tidy(hosts, SKILL_SHAPES.host),
  }
}

/** Only top-level files and files in `scripts/`, the format's own folder: others may be templates. */
function isScript(file: string): boolean {
  return !file.includes('/') || /(?:^|\/)scripts\//.test(file)
}

/** `allowed-tools`: a list, or words separated by spaces or commas. */
function toTools(allowed: unknown): string[] {
  const words = Array.isArray(allowed) ? allowed : [allowed]
  return words
    .filter((word) => typeof word === 'string')
    .flatMap((word) => word.slice(0, 10_000).match(/[^\s,(]+(?:\([^()]{0,80}\))?/g) ?? [])
}

/** Each value once, sorted; values that do not match `shape` are left out. */
function tidy(found: readonly string[], shape = /./): string[] {
  return [...new Set(found)]
    .filter((each) => shape.test(each))
    .sort()
    .slice(0, MAX_SKILL_ENTRIES)
}

const FOLLOW_SKILLS_ADDRESS =
  /^https:\/\/(?:github\.com\/([\w-]+\/[\w.-]+)(?:\/(?:tree|blob)\/([\w.-]+)(?:\/([\w.@/-]+?))?)?|raw\.githubusercontent\.com\/([\w-]+\/[\w.-]+)\/([\w.-]+)\/([\w.@/-]+))\/?$/

interface Place {
  repo: string
  root: string
  commit?: string | null
  paths: readonly string[]
  files?: string[] | undefined
}

/**
 * Turns addresses of skills into rows: on GitHub the file itself, its folder, or the folder of a
 * plugin whose only skill has its name; elsewhere a `skill.md`, or an index of several on the same
 * host. Other rows stay as they are.
 */
export async function followSkills(values: readonly unknown[], reader: Reader) {
  const refused: Refusal[] = []
  const refuse = (name: string, reason: Refusal['reason'], detail: string) => {
    refused.push({ reason, name, detail })
    return []
  }
  const read = createReading(reader, refuse)
  const readIndex = async (address: string): Promise<unknown[]> => {
    const answer = await reader.read(address)
    if (!answer.ok) return refuse(address, 'unreadable_seller', answer.detail)
    const listed = memberOf(parseJson(answer.text), 'skills')
    const rows: unknown[] = []
    for (const each of [listed].flat().filter(isJsonObject).slice(0, MAX_INDEXED)) {
      const url = String(URL.parse(String(each.url ?? `${each.name}/SKILL.md`), address))
      const place = url.startsWith(`${new URL(address).origin}/`) ? parseAddress(url) : null
      const found =
        place === null
          ? refuse(url, 'invalid_url', 'expected a skill.md on the host of its index')
          : await read(url, { ...place, files: textsOf(each.files) })
      for (const row of found) rows.push(row)
    }
    return rows
  }
  const followed = await reader.each(values, async (value): Promise<unknown[]> => {
    if (typeof value !== 'string') return [value]
    if (INDEX.test(value)) return readIndex(value)
    const place = parseAddress(value)
    return place === null ? refuse(value, 'invalid_url', EXPECTED) : read(value, place)
  })
  return { values: followed.flat(), refused }
}

type Reader = Pick<SellerReader, 'read' | 'each'>

const EXPECTED = 'expected the address of a skill on GitHub, of a skill.md or of an index.json'

/** Reads the first of a place's paths that exists, as a row. */
function createReading(
  reader: Reader,
  refuse: (name: string, reason: Refusal['reason'], detail: string) => never[],
) {
  return async (name: string, place: Place): Promise<unknown[]> => {
    const { repo, root, commit = null, paths, files } = place
    let fault = ''
    for (const path of paths) {
      const answer = await reader.read(`${root}/${path}`)
      if (!answer.ok) {
        fault = answer.detail
        continue
      }
      const licence = repo === root ? null : await reader.read(`${root}/LICENSE`)
      const license = licence?.ok === true ? nameLicence(licence.text) : null
      return [{ repo, path, commit, text: answer.text, license, ...(files && { files }) }]
    }
    return refuse(name, 'unreadable_seller', fault)
  }
}

function textsOf(files: unknown): string[] | undefined {
  return Array.isArray(files) ? files.filter((file) => typeof file === 'string') : undefined
}

const MAX_INDEXED = 200
const INDEX = /^https:\/\/[a-z0-9.-]+\/(?:[\w.-]+\/)*index\.json$/

function parseAddress(address: string): Place | null {
  const [, page, pageRef = 'HEAD', pagePath = '', raw, rawRef, rawPath = ''] =
    FOLLOW_SKILLS_ADDRESS.exec(address) ?? []
  const repo = page ?? raw
  if (repo === undefined) {
    const { origin = '', pathname = '' } = URL.parse(address) ?? {}
    const isSkill = origin.startsWith('https://') && /\/skill\.md$/i.test(pathname)
    return isSkill ? { repo: origin, root: origin, paths: [pathname.slice(1)] } : null
  }
  const ref = rawRef ?? pageRef
  const commit = /^[0-9a-f]{40}$/.test(ref) && { commit: ref }
  const there = { repo, root: `https://raw.githubusercontent.com/${repo}/${ref}`, ...commit }
  const path = page === undefined ? rawPath : pagePath
  if (/skill\.md$/i.test(path)) return { ...there, paths: [path] }
  if (page === undefined) return null
  const below = path === '' ? '' : `${path}/`
  const last = path.split('/').at(-1)
  const plugin = path === '' ? [] : [`${below}skills/${last}/SKILL.md`]
  return { ...there, paths: [`${below}SKILL.md`, ...plugin, `${below}skill.md`] }
}

function nameLicence(text: string): string | null {
  const head = text.slice(0, 600)
  if (/\bMIT License\b/i.test(head)) return 'MIT'
  if (/\bApache License\s+Version 2\.0\b/i.test(head)) return 'Apache-2.0'
  if (/Attribution-ShareAlike 4\.0/i.test(head)) return 'CC-BY-SA-4.0'
  return 'see LICENSE'
}
