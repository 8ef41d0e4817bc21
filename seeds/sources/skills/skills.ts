import * as v from 'valibot'
import {
  SKILL_SHAPES,
  SKILL_SOURCE,
  type SkillFacts,
} from '../../../src/domain/sources/skill-facts.ts'
import { chooseRows, type MappedSeed, mapTold, refuse } from '../../facts/map-rows.ts'
import { faultOf } from '../../facts/refusal.ts'
import * as member from '../../facts/row-members.ts'
import type { Seed } from '../../facts/seed-facts.ts'
import type { ListedFacts, MapRules, SeedSource } from '../../facts/seed-source.ts'
import { toSlug } from '../../text/address-slug.ts'
import { followSkills } from './follow-skills.ts'
import { type ReadSkill, readSkill, toLicence } from './read-skill.ts'
import { readNeeds, tidy } from './skill-needs.ts'

const MAX_FILES = 5000
/** Characters of a whole `SKILL.md`; a row may be no longer anyway. */
const MAX_SKILL_LENGTH = 256 * 1024

/** One `SKILL.md` of a public repository, or of a host of its own, with the files next to it. */
const RowSchema = v.object({
  repo: v.pipe(
    member.text,
    v.regex(
      /^(?:[A-Za-z0-9][\w-]{0,38}\/[\w.-]{1,100}|https:\/\/[a-z0-9.-]+)$/,
      'expected owner/name on GitHub, or the origin of a host',
    ),
  ),
  path: v.pipe(
    member.text,
    v.regex(
      /^(?:[\w@][\w.@-]*\/|\.[\w-]+\/){0,12}(?:SKILL|skill)\.md$/,
      'expected a path to SKILL.md',
    ),
  ),
  commit: v.nullish(v.pipe(v.string(), v.regex(/^[0-9a-f]{40}$/, 'expected a commit'))),
  /** Null means that the repository no longer has it. */
  text: v.nullable(
    v.pipe(
      v.string('expected the text of SKILL.md, or null where it is gone'),
      v.maxLength(MAX_SKILL_LENGTH),
    ),
  ),
  /** Paths below its folder. */
  files: v.nullish(v.pipe(v.array(v.string()), v.maxLength(MAX_FILES))),
  /** The repository's own licence, for a skill that names none. */
  license: v.nullish(member.text),
})
type Row = v.InferOutput<typeof RowSchema>

function mapSkill(row: Row, rules: MapRules): MappedSeed {
  const { repo, path, text } = row
  const folder = path.replace(/\/?SKILL\.md$/i, '')
  const host = repo.startsWith('https://') ? repo.slice('https://'.length) : null
  const owner = host ?? repo.split('/')[0] ?? ''
  const key = folder === '' ? (host ?? repo) : `${host ?? repo}/${folder}`
  if (text === null) return refuse(key, faultOf('deleted', 'expected a file, and it is gone'))
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
  const mapped = mapTold(
    {
      key,
      prefix: 'kit',
      slug: slugOf(key),
      names: [`${read.name} by ${owner}`],
      // An agent follows all of it, so all of it is scanned for orders against its user.
      said: [read.description, read.body],
      facts: { ...FREE_KIT, url, sources: [{ source: SKILL_SOURCE, ref: url }] },
    },
    rules,
  )
  return withSkill(mapped, toFacts(row, { ...read, text, licence }, rules))
}

const FREE_KIT = {
  kind: 'kit',
  pricing: { model: 'unknown' },
  cost: 'free',
  auth: { type: 'none' },
} as const

/** The skill's own licence, the file next to it, or its repository's. */
function licenceOf({ files, license }: Row, read: ReadSkill): string | null {
  const beside = files?.find((file) => /^(?:LICEN[CS]E|COPYING)(?:\.\w+)?$/.test(file))
  const licence = toLicence(read.license) ?? toLicence(beside) ?? toLicence(license)
  return licence !== null && SKILL_SHAPES.licence.test(licence) ? licence : null
}

/** Its sentence stays where it is: a person writes ours. */
function withSkill(mapped: MappedSeed, skill: SkillFacts): MappedSeed {
  const add = (seed: Seed): Seed => ({ ...seed, skill, withheld: ['summary'] })
  if (mapped.ok) return { ...mapped, seed: add(mapped.seed) }
  return mapped.held === undefined ? mapped : { ...mapped, held: add(mapped.held) }
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

/** Where the listed kits are. */
function toListedAddresses(listings: readonly ListedFacts[]): string[] {
  const urls = listings.flatMap(({ facts: { kind, url = '' } }) =>
    kind === 'kit' && url.startsWith('https://github.com/') ? [url] : [],
  )
  return [...new Set(urls)].sort()
}

const choose = chooseRows(RowSchema, 'path', mapSkill)

/** Agent skills in public repositories: kits by others, with their licence and requirements. */
export const skills: SeedSource = {
  id: 'skills',
  title: 'skills for agents, by the SKILL.md of public repositories',
  liveUrl: '',
  promisesAll: false,
  shape: {
    lists: ['skills'],
    expected:
      'rows of repo, path, commit, text and files, or addresses of skills: on GitHub, of a skill.md, of an index.json',
    isRow: ({ repo, path }) => typeof repo === 'string' && typeof path === 'string',
    takesAddresses: true,
  },
  fromContent: toListedAddresses,
  follow: followSkills,
  choose(values, rules) {
    const chosen = choose(values, rules)
    const deleted = chosen.refused.filter(({ reason }) => reason === 'deleted')
    return { ...chosen, deleted: deleted.map(({ name }) => name) }
  },
}
