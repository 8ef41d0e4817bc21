import { execFileSync } from 'node:child_process'

/** Content files that differ from a git ref, those not yet under version control included. */
export interface Changes {
  /** Paths from the content folder. */
  files: Set<string>
  /** Ids of listings, sorted. */
  added: string[]
  removed: string[]
}

/** @returns an error with git's own words where the ref or the repository is none. */
export function readChanges(contentDir: string, ref: string): Changes | Error {
  if (ref.startsWith('-')) return new Error(`expected a git ref such as origin/main, got ${ref}`)
  try {
    const base = git(contentDir, 'merge-base', ref, 'HEAD').trim()
    const diff = git(contentDir, 'diff', '--relative', '--name-status', '--no-renames', '-z', base)
    const rows = toRows(diff.split('\0'))
    const untracked = git(contentDir, 'ls-files', '--others', '--exclude-standard', '-z')
    for (const file of untracked.split('\0')) if (file !== '') rows.push({ status: 'A', file })
    const idsOf = (status: string) =>
      rows.flatMap((row) => (row.status === status ? (toId(row.file) ?? []) : [])).sort()
    return {
      files: new Set(rows.map(({ file }) => file)),
      added: idsOf('A'),
      removed: idsOf('D'),
    }
  } catch (error) {
    const said = error instanceof Error ? (error.message.split('\n')[1] ?? error.message) : ''
    return new Error(`expected a git ref that this repository has, got ${ref}: ${said}`)
  }
}

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** `-z` output: status and path take turns. */
function toRows(parts: readonly string[]): { status: string; file: string }[] {
  return parts.flatMap((status, i) => {
    const file = parts[i + 1]
    return i % 2 === 0 && file !== undefined ? [{ status, file }] : []
  })
}

function toId(file: string): string | null {
  const [, prefix, slug] = /^listings\/([^/]+)\/(.+)\.md$/.exec(file) ?? []
  return prefix === undefined || slug === undefined ? null : `${prefix}.${slug}`
}
