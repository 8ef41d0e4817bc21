import {
  MAX_SKILL_ENTRIES,
  SKILL_SHAPES,
  type SkillFacts,
} from '../../../src/domain/sources/skill-facts.ts'
import { findCallableUrlFault, type HostRules } from '../../facts/callable-url.ts'

/** Ways in which a shell, Node and Python read an environment variable, and `export` that sets one. */
const READ =
  /(?:\$\{?|\bprocess\.env\.|\bos\.environ\[["']|\bos\.(?:environ\.get|getenv)\(["']|\bexport )([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b/g
/** A variable that a script sets for itself. */
const SET = /^[ \t]*([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)=/gm
/** Variables the agent itself sets, such as the folder of a plugin. */
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

/** Requirements of a skill, as far as its folder shows them: only names, none of its sentences. */
export function readNeeds(
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

/** The format's folder for scripts; files elsewhere may be templates. */
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

/** Each once, sorted, without values of another form. */
export function tidy(found: readonly string[], shape = /./): string[] {
  return [...new Set(found)]
    .filter((each) => shape.test(each))
    .sort()
    .slice(0, MAX_SKILL_ENTRIES)
}
