#!/usr/bin/env node
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import * as v from 'valibot'
import { parse } from 'yaml'
import {
  type Evidence,
  EvidenceSchema,
  PackageRunSchema,
  toEvidenceText,
} from '../../src/domain/trust/evidence.ts'
import { parseJson, present } from '../../src/domain/wire/json.ts'
import { type PackagePlan, planListing, planPackage } from './fetch-package.ts'
import type { RunResult } from './run-package.ts'
import { runPackage } from './run-package.ts'
import { findSandbox } from './sandbox.ts'

const HELP = `Usage: run-check <listing file|package> [--json]

Runs the package of an MCP server in a sandbox without a network and reports what it saw.
  listing file  content/listings/<prefix>/<slug>.md: the first package of npm, else PyPI, that
                speaks over stdio; the result goes to content/evidence/<prefix>/<slug>.json
  package       @scope/name, npm:name@1.4.2 or pypi:name@1.4.2: the result is only printed
  --json        one JSON object with the members that an evidence file takes

Exit: 0 there is a result, good or bad; 1 nothing could be run; 2 the command was wrong.`

/** An error that the operator can fix: only its message is printed. */
class Refusal extends Error {
  readonly exitCode: 1 | 2
  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

/** What a run checks, and where its result is written. */
interface Target {
  plan: PackagePlan
  /** Null for a package without a listing. */
  evidenceFile: string | null
}

/** The part of the evidence that a run provides. */
type RunEvidence = Pick<Evidence, 'package_run' | 'interface'>

if (import.meta.main)
  await main(process.argv.slice(2)).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error
    console.error(error.message)
    process.exitCode = error.exitCode
  })

async function main(args: readonly string[]): Promise<void> {
  const { words, options } = readCommand(args)
  if (options.help) return console.log(HELP)
  const [word, ...others] = words
  if (word === undefined || others.length > 0)
    throw new Refusal(`expected one listing file or package, got ${words.length}\n\n${HELP}`, 2)
  const { plan, evidenceFile } = readTarget(word)
  const kept = evidenceFile === null ? {} : readEvidence(evidenceFile)
  const { sandbox, fault } = await findSandbox(process.env.PATH ?? '')
  if (fault !== null) throw new Refusal(fault)
  const { result, placeholders } = await runPackage(sandbox, plan)
  const at = new Date().toISOString().replace(/\.\d{3}Z$/, 'Z')
  const seen = toRunEvidence(result, placeholders, at)
  if (evidenceFile !== null) writeEvidence(evidenceFile, mergeRun(kept, seen))
  console.log(options.json ? JSON.stringify(seen) : toLine(plan, result, placeholders))
  if (evidenceFile !== null && !options.json) console.log(`written to ${evidenceFile}`)
}

function readCommand(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { json: { type: 'boolean' }, help: { type: 'boolean' } },
    })
    return { words: positionals, options: values }
  } catch (error) {
    throw new Refusal(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`, 2)
  }
}

/** A word that ends in `.md` is a listing file: no package name on npm or PyPI ends in `.md`. */
function readTarget(word: string): Target {
  const isFile = word.endsWith('.md')
  const plan = isFile ? planListing(readFrontMatter(word)) : planPackage(word)
  if (typeof plan === 'string') throw new Refusal(`${word}: ${plan}`, isFile ? 1 : 2)
  return { plan, evidenceFile: isFile ? toEvidenceFile(word) : null }
}

function readFrontMatter(file: string): unknown {
  if (!existsSync(file)) throw new Refusal(`${file}: no such file`, 2)
  const [, yaml] = /^---\n(.*?)\n---\s*(?:\n|$)/s.exec(readFileSync(file, 'utf8')) ?? []
  if (yaml === undefined)
    throw new Refusal(`${file}: expected front matter between two lines of ---`)
  try {
    return parse(yaml)
  } catch (error) {
    throw new Refusal(`${file}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** @returns null for a file outside any content folder */
function toEvidenceFile(file: string): string | null {
  const [, content, name] = /^(.*)\/listings\/([^/]+\/[^/]+)\.md$/.exec(resolve(file)) ?? []
  return content === undefined ? null : join(content, 'evidence', `${name}.json`)
}

/** Keeps tools that an endpoint of the same listing named, because callers reach that endpoint. */
function mergeRun(kept: Evidence, { package_run, interface: seen }: RunEvidence): Evidence {
  const isRemote = kept.probes?.some(({ outcome }) => outcome === 'spoke') ?? false
  return { ...kept, ...present({ package_run }), ...(!isRemote && present({ interface: seen })) }
}

/** A file that is not evidence is never overwritten. */
function readEvidence(file: string): Evidence {
  if (!existsSync(file)) return {}
  const parsed = v.safeParse(EvidenceSchema, parseJson(readFileSync(file, 'utf8')))
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  const where = v.getDotPath(issue) ?? 'the file'
  throw new Refusal(
    `${file}: ${where}: ${issue.message}. The file was not changed; see npm run check.`,
  )
}

/** Replaces the file in one step: a reader sees either the old evidence or the new evidence, whole. */
function writeEvidence(file: string, evidence: Evidence): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.part`, toEvidenceText(evidence), { flush: true })
  renameSync(`${file}.part`, file)
}

/** Tools from the last run that listed them are kept. */
export function toRunEvidence(
  { outcome, why, server, tools, isCut }: RunResult,
  placeholders: readonly string[],
  at: string,
): RunEvidence {
  const version = v.safeParse(PackageRunSchema.entries.version, server?.version || undefined)
  return {
    package_run: {
      at,
      ...present({ version: version.success ? version.output : undefined }),
      outcome,
      ...present({ why }),
      ...(placeholders.length > 0 && { placeholders: [...placeholders] }),
    },
    ...(tools !== undefined && {
      interface: {
        at,
        from: 'mcp',
        tools,
        // Leaves out empty members.
        server: Object.fromEntries(Object.entries(server ?? {}).filter(([, text]) => text !== '')),
        ...(isCut && { truncated: true }),
      },
    }),
  }
}

function toLine(plan: PackagePlan, result: RunResult, placeholders: readonly string[]): string {
  const { outcome, why, server, tools = [] } = result
  const name = `${plan.registry}:${plan.identifier}${plan.version === null ? '' : `@${plan.version}`}`
  const settings =
    placeholders.length === 0 ? '' : `, with placeholders for ${placeholders.join(', ')}`
  const seen = why ?? `${server?.version || 'no version'}, ${tools.length} tools${settings}`
  return `${outcome}  ${name}  ${seen}`
}
