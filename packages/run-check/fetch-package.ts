import { type ChildProcess, spawn } from 'node:child_process'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { createInvokeSchema, findIdentifierFault } from '../../src/domain/listing/invoke.ts'
import { VersionSchema } from '../../src/domain/listing/listing-facts.ts'
import { isJsonObject } from '../../src/domain/wire/json.ts'
import { findOnPath, lastLineOf } from './sandbox.ts'

interface FetchLimits {
  ms: number
  bytes: number
}

interface Fetch {
  plan: PackagePlan
  folder: string
  env: Record<string, string>
  limits: FetchLimits
}

/** Variables that a package manager needs to find its registry, as the operator set it up. */
const MANAGER_ENV =
  /^(?:PATH|HOME|USER|LANG|npm_config_\w+|PIP_\w+|(?:https?|no|all)_proxy|SSL_CERT_\w+|NODE_EXTRA_CA_CERTS)$/i

const WEIGHING_MS = 1000

const MAX_MANIFEST = 1024 * 1024

/** Names of programs; longer or unusual names are ignored. */
const PROGRAM = /^\w[\w.-]{0,99}$/

/** Debian's own Python: a sandbox sees no other. */
const PYTHON = '/usr/bin/python3'

/**
 * Downloads a package and its dependencies through its manager's ordinary client, with the
 * operator's own registry setting. No script in the package or a dependency is run, and anything
 * from outside the registry (git, a URL, a folder) is refused.
 * @returns the package, or one sentence saying why it could not be fetched
 */
export async function fetchPackage(plan: PackagePlan, folder: string, limits: FetchLimits) {
  await writeFile(join(folder, 'package.json'), '{}')
  const env = pickEnv(process.env)
  const isNpm = plan.registry === 'npm'
  const fetch = { plan, folder, env, limits }
  const fault = await (isNpm ? fetchFromNpm(fetch) : fetchFromPypi(fetch))
  if (fault !== null) return fault
  return isNpm ? toNodeProgram(plan, folder) : toPythonProgram(plan, folder)
}

/** An environment's variables that a package manager needs, by name. */
function pickEnv(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value !== undefined && MANAGER_ENV.test(name) ? [[name, value]] : [],
    ),
  )
}

async function fetchFromNpm({ plan, folder, env, limits }: Fetch): Promise<string | null> {
  const path = findOnPath('npm', env.PATH ?? '')
  if (path === null) return 'npm is not on PATH'
  const npm = { path, env, cwd: folder }
  const { code, output } = await runCommand(npm, ['config', 'get', 'allow-remote'], limits.ms)
  if (code === null) return 'npm took too long to answer'
  if (!/^(?:all|none|root)$/m.test(output))
    return 'this version of npm would follow URLs in a package: update npm'
  const cache = join(folder, '.cache')
  const words = [
    ...['install', '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund'],
    ...['--no-package-lock', '--loglevel=error', '--os=linux', '--cache', cache],
    ...['git', 'remote', 'file', 'directory'].map((kind) => `--allow-${kind}=none`),
    ...['--', `${plan.identifier}@${plan.version ?? 'latest'}`],
  ]
  const fault = await askWithin(npm, words, folder, limits)
  await rm(cache, { recursive: true, force: true })
  // npm records the origin of each package in this file: the operator's registry.
  await rm(join(folder, 'node_modules', '.package-lock.json'), { force: true })
  return fault
}

/** Fetches only wheels, because building from source would run the package's code. */
function fetchFromPypi({ plan, folder, env, limits }: Fetch): Promise<string | null> {
  const { identifier, version } = plan
  const words = [
    ...['-I', '-m', 'pip', 'install', '--target', folder, '--only-binary=:all:', '--no-compile'],
    ...['--no-cache-dir', '--disable-pip-version-check', '--no-input', '--quiet'],
    ...['--', version === null ? identifier : `${identifier}==${version}`],
  ]
  const python = { path: PYTHON, env, cwd: folder }
  return askWithin(python, words, folder, limits)
}

/** A registry may send anything: the folder's size is watched as it grows. */
async function askWithin(
  manager: Command,
  words: string[],
  folder: string,
  { ms, bytes }: FetchLimits,
): Promise<string | null> {
  const stop = new AbortController()
  const weigh = async () => {
    const { output } = await runCommand({ ...manager, path: '/usr/bin/du' }, ['-sk', folder], ms)
    if (Number.parseInt(output, 10) * 1024 > bytes) stop.abort()
  }
  const timer = setInterval(weigh, WEIGHING_MS)
  const { code, output } = await runCommand(manager, words, ms, stop.signal)
  clearInterval(timer)
  await weigh()
  if (stop.signal.aborted) return `the package is larger than ${Math.round(bytes / 1024 ** 2)} MB`
  if (code === 0) return null
  return code === null ? 'its download took too long' : toFault(output)
}

/** npm's error code and message, or the last line; the operator's registry address is removed. */
function toFault(output: string): string {
  const stated = /npm error code (\w+)\s+npm error (.*)/.exec(output)
  const line = stated === null ? output : `${stated[1]} ${stated[2]}`
  return lastLineOf(line.replace(/\bhttps?:\/\/\S+/g, 'the registry'))
}

/** The program that npx would choose: the one named like the package, or the only one if all names lead to it. */
async function toNodeProgram({ identifier, env, args }: PackagePlan, folder: string) {
  const bin = await readBin(join(folder, 'node_modules', identifier, 'package.json'))
  const own = identifier.split('/').at(-1) ?? ''
  const named = isJsonObject(bin)
    ? Object.entries(bin)
    : typeof bin === 'string'
      ? [[own, bin]]
      : []
  const isOne = new Set(named.map(([, path]) => path)).size === 1
  const names = named.map(([name]) => String(name))
  const program = choose(isOne && !names.includes(own) ? names.slice(0, 1) : names, own)
  if (program === null) return 'the package has no program to run'
  const command = [`/package/node_modules/.bin/${program}`, ...args.map(fill)]
  return { folder, command, env }
}

async function readBin(path: string): Promise<unknown> {
  try {
    const { size } = await stat(path)
    const manifest: unknown = size > MAX_MANIFEST ? null : JSON.parse(await readFile(path, 'utf8'))
    return isJsonObject(manifest) ? manifest.bin : undefined
  } catch {
    return undefined
  }
}

async function toPythonProgram({ identifier, env, args }: PackagePlan, folder: string) {
  const program = choose(await readdir(join(folder, 'bin')).catch(() => []), identifier)
  if (program === null) return 'the package has no program to run'
  return {
    folder,
    command: ['python3', `/package/bin/${program}`, ...args.map(fill)],
    env: { ...env, PYTHONPATH: '/package', PYTHONDONTWRITEBYTECODE: '1' },
  }
}

/** @example fill('--root=<DIRECTORY>') → '--root=/tmp' */
function fill(word: string): string {
  return word.replace(/<([\w-]+)>/g, (_, name: string) => toPlaceholder(name))
}

function choose(programs: readonly string[], own: string): string | null {
  const plain = programs.filter((name) => PROGRAM.test(name))
  return plain.find((name) => name === own) ?? (plain.length === 1 ? (plain[0] ?? null) : null)
}

/** The registries whose packages can be run, in the order in which a listing's packages are tried. */
const REGISTRIES = ['npm', 'pypi'] as const

/** A package with MCP over stdio, and the settings with which to start it. */
export interface PackagePlan {
  registry: (typeof REGISTRIES)[number]
  identifier: string
  /** Null means the registry's newest version. */
  version: string | null
  /** Placeholders for required settings: we have no account with the seller. */
  env: Record<string, string>
  args: string[]
}

/** A listing's facts about its packages; its other members are ignored here. */
const PackagedSchema = v.object({
  probe: v.optional(v.boolean(), true),
  version: v.optional(VersionSchema),
  invoke: v.optional(v.array(createInvokeSchema({ allowPrivate: true })), []),
})

/**
 * The listing's package that is most likely to run.
 * @param frontMatter the parsed front matter, not checked yet
 * @returns one sentence if there is nothing to run
 */
export function planListing(frontMatter: unknown): PackagePlan | string {
  const parsed = v.safeParse(PackagedSchema, frontMatter)
  if (!parsed.success) {
    const [issue] = parsed.issues
    return `${v.getDotPath(issue) ?? 'the front matter'}: ${issue.message}`
  }
  const { probe, version, invoke } = parsed.output
  if (!probe) return 'the listing has `probe: false`, a request to leave this listing alone'
  for (const registry of REGISTRIES) {
    const entry = invoke.find(
      (each) =>
        each.kind === 'mcp_package' && each.transport === 'stdio' && each.registry === registry,
    )
    if (entry?.kind !== 'mcp_package') continue
    const { identifier, env = [], args = [] } = entry
    const required = env.filter((setting) => setting.required)
    const settings = required.map(({ name, secret, example }) => [
      name,
      secret || example === undefined ? toPlaceholder(name) : example,
    ])
    const named = { registry, identifier, version: version ?? null }
    return { ...named, env: Object.fromEntries(settings), args }
  }
  return `invoke lists no ${REGISTRIES.join(' or ')} package with transport stdio`
}

/**
 * Reads `[registry:]name[@version]`.
 * @param text the package; without a registry it means npm
 * @returns one sentence if the text names no package; such a text is never passed to a package manager
 * @example planPackage('pypi:mcp-server-fetch@2.1.0') → { registry: 'pypi', identifier:
 *   'mcp-server-fetch', version: '2.1.0', … }
 */
export function planPackage(text: string): PackagePlan | string {
  const [, named = 'npm', rest = ''] = /^(?:([a-z]+):)?(.*)$/s.exec(text) ?? []
  const registry = REGISTRIES.find((each) => each === named)
  if (registry === undefined)
    return `expected an ${REGISTRIES.join(' or ')} package, got ${JSON.stringify(text)}`
  const [, identifier = '', version = null] = /^(@?[^@]*)(?:@(.*))?$/s.exec(rest) ?? []
  const fault = findIdentifierFault(registry, identifier)
  if (fault !== null) return `${JSON.stringify(identifier)}: ${fault}`
  if (version !== null && !v.is(VersionSchema, version))
    return `${JSON.stringify(version)}: expected one fixed version such as 1.4.2`
  return { registry, identifier, version, env: {}, args: [] }
}

/** A placeholder in the form that a setting's name suggests, because programs may check it; addresses lead nowhere. */
export function toPlaceholder(name: string): string {
  if (/^(?:DATABASE|POSTGRES|DB|PG)\w*(?:URL|URI)$|(?:DSN|CONNECTION_STRING)$/i.test(name))
    return 'postgresql://127.0.0.1:1/placeholder'
  if (/(?:URL|URI|ENDPOINT)$/i.test(name)) return 'http://127.0.0.1:1'
  if (/HOST$/i.test(name)) return '127.0.0.1'
  if (/(?:DIR|DIRECTORY|PATH|FOLDER|ROOT)$/i.test(name)) return '/tmp'
  return /PORT$/i.test(name) ? '1' : 'placeholder'
}

interface Command {
  path: string
  env: Record<string, string>
  cwd?: string
}

/** A command prints little, but a registry behind it could send anything. */
const MAX_OUTPUT = 64 * 1024

/**
 * Runs one command of a package manager or the system, as arguments without a shell. Never rejects.
 * @returns its output and exit code, which is null if it was killed or could not be started
 */
function runCommand(
  { path, env, cwd }: Command,
  args: string[],
  ms: number,
  signal?: AbortSignal,
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    // The command has its own process group: Ctrl-C is for us, and we end what we started.
    const child = spawn(path, args, {
      env,
      ...(cwd !== undefined && { cwd }),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const stop = () => endGroup(child)
    const timer = setTimeout(stop, ms)
    signal?.addEventListener('abort', stop, { once: true })
    let output = ''
    const hear = (chunk: Buffer) => {
      if (output.length < MAX_OUTPUT) output += chunk.toString('utf8')
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    const end = (code: number | null, words = output) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
      resolve({ code, output: words.slice(0, MAX_OUTPUT) })
    }
    child.on('error', (error) => end(null, error.message))
    child.on('close', (code) => end(code))
  })
}

/** Ends the command and its children: a package manager has helpers. */
function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The group has already ended.
  }
}
