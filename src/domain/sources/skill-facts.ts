import * as v from 'valibot'

/** The source whose rows are folders of public repositories with a `SKILL.md`. */
export const SKILL_SOURCE = 'agent_skills'

/** Entries per list: nobody reads a longer one at a glance. */
export const MAX_SKILL_ENTRIES = 200
const list = (shape: RegExp, expected: string) =>
  v.pipe(v.array(v.pipe(v.string(), v.regex(shape, expected))), v.maxLength(MAX_SKILL_ENTRIES))

/** Valid entries of a skill; they are foreign text, and shown unchanged. */
export const SKILL_SHAPES = {
  licence: /^[\w][\w .+()/-]{0,99}$/,
  file: /^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$))[\w .+@()/-]{1,200}$/,
  env: /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/,
  tool: /^[A-Za-z][\w-]*(?:\([\w .:*/,-]{0,80}\))?$/,
  host: /^[a-z0-9.-]+(?::\d{1,5})?$/,
} as const

/** Contents and requirements of a public skill, read from its folder for the reviewer. */
export const SkillFactsSchema = v.strictObject({
  licence: v.pipe(v.string(), v.regex(SKILL_SHAPES.licence, 'expected a licence')),
  /** The commit it was read at. */
  commit: v.optional(v.string()),
  /** Paths below its folder; absent where only its `SKILL.md` was read. */
  files: v.optional(list(SKILL_SHAPES.file, 'expected a path below the folder')),
  /** Environment variables that its text reads. */
  env: list(SKILL_SHAPES.env, 'expected the name of an environment variable'),
  /** Tools of the agent that it requires. */
  tools: list(SKILL_SHAPES.tool, 'expected the name of a tool'),
  /** What runs its scripts. */
  programs: list(/^[A-Za-z][\w.]{0,30}$/, 'expected the name of a program'),
  /** Hosts that its code blocks name. */
  hosts: list(SKILL_SHAPES.host, 'expected a host'),
})
export type SkillFacts = v.InferOutput<typeof SkillFactsSchema>

const MAX_SHOWN = 12

/**
 * The notes of a listing below its rows, in our words.
 *
 * @example describeSkill({ licence: 'MIT', env: [], tools: [], programs: ['Python'], hosts: [] })
 *   → 'Its scripts need Python. Licensed under MIT.'
 */
export function describeSkill(skill: SkillFacts): string {
  const { licence, files = [], env, tools, programs, hosts } = skill
  const isElsewhere = licence.startsWith('see ')
  return [
    programs.length > 0 && `Its scripts need ${join(programs)}.`,
    env.length > 0 && `It reads ${joinCode(env)} from the environment.`,
    tools.length > 0 && `It asks for these tools of the agent: ${joinCode(tools)}.`,
    hosts.length > 0 && `Its code blocks name ${joinCode(hosts)}.`,
    files.length > 1 && `Its files: ${joinCode(files)}.`,
    isElsewhere ? `Its licence is in \`${licence.slice(4)}\`.` : `Licensed under ${licence}.`,
  ]
    .filter((sentence) => sentence !== false)
    .join(' ')
}

function joinCode(names: readonly string[]): string {
  return join(names.map((name) => `\`${name}\``))
}

function join(names: readonly string[]): string {
  const shown = names.slice(0, MAX_SHOWN)
  const more = names.length - shown.length
  const all = more > 0 ? [...shown, `${more} more`] : shown
  return all.length < 2 ? (all[0] ?? '') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
}
