import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { type Engine, findEngine } from '../../functions/probe/package/engine.ts'
import {
  createPackageProber,
  PACKAGE_LIMITS,
  type PackageLimits,
} from '../../functions/probe/package/probe-package.ts'
import { judgeStdioEnd } from '../../src/domain/probe/keep/judge-package.ts'
import { mergeFinding } from '../../src/domain/probe/keep/merge-finding.ts'
import type { PackagePlan } from '../../src/domain/probe/keep/probe-plan.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A folder for PATH with an engine that runs nothing but its own servers. */
function createEngine(name: 'docker' | 'podman' = 'docker') {
  const dir = mkdtempSync(join(tmpdir(), 'waypost-engine-'))
  const path = join(dir, name)
  const script = resolve('test/probe/stand-in-engine.ts')
  writeFileSync(path, `#!${process.execPath}\nimport(${JSON.stringify(script)})\n`)
  chmodSync(path, 0o755)
  closing.push(() => rmSync(dir, { recursive: true }))
  const engine: Engine = { name, path, env: { PATH: dir } }
  const readCalls = (): { argv: string[]; env: string[]; cwd: string }[] => {
    const file = join(dir, 'calls.ndjson')
    const text = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
    return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line))
  }
  return {
    dir,
    engine,
    calls: () => readCalls().map(({ argv }) => argv),
    run: () => readCalls().find(({ argv }) => argv[0] === 'run'),
    /** Containers that nobody removed. */
    left: () => readdirSync(dir).filter((file) => file.endsWith('.pid')),
    mark: (file: string) => writeFileSync(join(dir, file), ''),
  }
}

const NPM: PackagePlan = {
  registry: 'npm',
  identifier: '@harbour/former',
  version: '2.1.0',
  env: {},
  args: [],
}
/** Long enough for a server to start, short enough to wait for its silence. */
const LIMITS = { ...PACKAGE_LIMITS, bytes: 256 * 1024 }
const SHORT = { ...LIMITS, runMs: 900 }

function probe(engine: Engine, plan: Partial<PackagePlan>, limits: PackageLimits = LIMITS) {
  return createPackageProber(engine, limits, fetched)({ ...NPM, ...plan })
}

/** Fetching has tests of its own. */
async function fetched({ identifier, env, args }: PackagePlan, folder: string) {
  const name = identifier.split('/').at(-1) ?? ''
  return {
    folder,
    env,
    command: [`/package/${name}`, ...args],
    image: 'docker.io/library/node:24-slim',
  }
}

describe('a package in a container', () => {
  test('speaks; its tools are read and the container is gone', async () => {
    const world = createEngine()
    const env = { API_KEY: 'placeholder' }
    const finding = await probe(world.engine, { env, args: ['--read-only'] })
    expect(finding).toMatchObject({ outcome: 'spoke', protocol: 'mcp', version: '2025-11-25' })
    expect(finding).not.toHaveProperty('ms')
    const {
      probes,
      package_run,
      interface: seen,
    } = mergeFinding(
      {},
      finding,
      { declared: { max_usd: null, networks: [], payouts: [] } },
      '2026-11-22T12:00:00Z',
    )
    expect(probes).toBeUndefined()
    expect(package_run).toMatchObject({ outcome: 'runs_as_declared', version: '2.1.0' })
    expect(seen).toMatchObject({
      from: 'mcp',
      server: { name: 'harbour', version: '2.1.0', protocol: '2025-11-25' },
      tools: [{ name: 'find_ship', description: 'By name.' }],
    })
    expect(world.left()).toEqual([])
  })

  test('is started with nothing of the host and every bound', async () => {
    const world = createEngine()
    process.env.HOST_SECRET = 'hunter2'
    closing.push(() => delete process.env.HOST_SECRET)
    const env = { API_KEY: 'placeholder', HOME: '/root' }
    await probe(world.engine, { env, args: ['--read-only', '; rm -rf /'] })
    const { argv = [], env: handed = [], cwd = '' } = world.run() ?? {}
    expect(handed).not.toContain('HOST_SECRET')
    // What an engine leaves where it was started goes with it.
    expect([cwd === process.cwd(), existsSync(cwd)]).toEqual([false, false])
    const at = argv.indexOf('docker.io/library/node:24-slim')
    const options = argv.slice(0, at).join(' ')
    expect(options).toMatch(/^run --rm -i --name waypost-probe-[0-9a-f]{16} /)
    for (const bound of [
      '--network none',
      '--cap-drop ALL',
      '--security-opt no-new-privileges',
      '--memory 1g',
      '--memory-swap 1g',
      '--pids-limit 256',
      '--cpus 1',
      '--read-only',
      '--tmpfs /tmp:rw,exec,nosuid,nodev,size=512m,mode=1777',
      '--log-driver none',
      '--pull never',
      '--user 65534:65534',
    ])
      expect(options).toContain(bound)
    expect(options).not.toMatch(/--(?:volume|privileged|device|env-file|publish)|(?:^| )-v /)
    expect(options.match(/--mount \S+/g)).toEqual([
      expect.stringMatching(/^--mount type=bind,source=\/\S+,target=\/package,readonly$/),
    ])
    const values = argv.flatMap((word, i) => (argv[i - 1] === '--env' ? [word] : []))
    expect(values).toEqual(expect.arrayContaining(['API_KEY=placeholder', 'HTTPS_PROXY=']))
    expect(values.filter((value) => value.startsWith('HOME='))).toEqual(['HOME=/tmp'])
    expect(values.every((value) => value.includes('='))).toBe(true)
    expect(argv.slice(at + 1)).toEqual(['/package/former', '--read-only', '; rm -rf /'])
  })

  test('of PyPI that speaks the current revision alone is asked in it', async () => {
    const { engine, run } = createEngine('podman')
    const plan = { registry: 'pypi', identifier: 'current', version: null } as const
    expect(await probe(engine, plan)).toMatchObject({
      outcome: 'spoke',
      version: '2026-07-28',
      sight: { tools: [{ name: 'find_ship' }] },
    })
    expect(run()?.argv.at(-1)).toBe('/package/current')
    expect(run()?.argv.join(' ')).toContain('--image-volume tmpfs')
  })

  test('that is an image runs without a network, and is removed unless it was here', async () => {
    const world = createEngine()
    const plan = { registry: 'oci', identifier: 'harbour/former:1.2', version: null } as const
    expect(await probe(world.engine, plan)).toMatchObject({ outcome: 'spoke' })
    const image = 'docker.io/harbour/former:1.2'
    expect(world.run()?.argv.at(-1)).toBe(image)
    expect(world.run()?.argv.join(' ')).toContain('--network none')
    const told = world.calls().filter(([word]) => word !== 'run' && word !== 'rm')
    expect(told).toEqual([
      ['image', 'inspect', image],
      ['pull', '--quiet', image],
      ['image', 'rm', image],
    ])
    const other = createEngine()
    await probe(other.engine, { ...plan, identifier: 'ghcr.io/harbour/local' }, SHORT)
    expect(other.calls().map((words) => words.slice(0, 2).join(' '))).not.toContain('image rm')
  })

  const image = { registry: 'oci', version: null } as const
  const API_KEY = { API_KEY: 'placeholder' }
  test.each<[string, Partial<PackagePlan>, string, string]>([
    ['endless output', { identifier: 'endless' }, 'wrong_protocol', 'too much on stdout'],
    ['endless complaints', { identifier: 'complaining' }, 'unknown', 'stderr'],
    ['another protocol', { identifier: 'website' }, 'wrong_protocol', 'Listening on port 3000'],
    ['silence of an image', { ...image, identifier: 'a/silent' }, 'unknown', 'in time'],
    ['silence, signals ignored', { ...image, identifier: 'a/deaf' }, 'unknown', 'in time'],
    ['an end', { identifier: 'crashes' }, 'dead', 'ended with 1'],
    ['an end with placeholders', { identifier: 'crashes', env: API_KEY }, 'unknown', 'API_KEY'],
    ['an end for want of a key', { identifier: 'ends' }, 'unknown', 'API_KEY is not set'],
    ['an end at our read-only disk', { identifier: 'writer' }, 'unknown', 'read-only'],
    ['an end at our memory', { identifier: 'greedy' }, 'unknown', 'ended with 137'],
    ['an engine that refuses', { identifier: 'refused' }, 'unknown', 'ended with 125'],
    ['no such image', { ...image, identifier: 'a/missing' }, 'unknown', 'manifest unknown'],
  ])('%s is an outcome, and nothing is left', async (what, plan, outcome, words) => {
    const { engine, left } = createEngine()
    const finding = await probe(engine, plan, what.startsWith('silence') ? SHORT : LIMITS)
    expect(finding).toMatchObject({ outcome, isLocal: true })
    expect(finding.saw).toContain(words)
    expect(left()).toEqual([])
  })

  test.each([
    ['our disk is full', 1, '  handleErrorFromBinding(e)\n\nError: ENOSPC: no space', 'ENOSPC: no'],
    ['the container cannot start', 126, 'Error: crun: setrlimit `RLIMIT_NOFILE`', 'setrlimit'],
  ])('is not held against its seller where %s', (_, code, log, words) => {
    const end = { why: 'exit', code, log, noise: '' } as const
    const finding = judgeStdioEnd(end, 'initialize', NPM)
    expect(finding).toMatchObject({ outcome: 'unknown', saw: expect.stringContaining(words) })
  })

  test.each([
    [{ identifier: '--privileged' }, 'npm registry'],
    [{ ...image, identifier: '-v' }, 'oci registry'],
    [{ identifier: 'former', version: '--call=x' }, 'version'],
    [{ ...image, identifier: 'localhost:5000/former' }, 'no public one'],
    [{ ...image, identifier: '10.0.0.7:5000/former' }, 'no public one'],
  ])('named %j is never handed to the engine', async (plan, words) => {
    const { engine, calls } = createEngine()
    const finding = await probe(engine, plan)
    expect(finding).toMatchObject({ outcome: 'unprobeable' })
    expect(finding.saw).toContain(words)
    expect(calls()).toEqual([])
  })

  test('that cannot be removed ends the run, with the name and what to do', async () => {
    const { dir, engine, mark, left } = createEngine()
    mark('stuck')
    await expect(probe(engine, {})).rejects.toThrow(/waypost-probe-[0-9a-f]{16} .*the daemon hangs/)
    expect(left()).toHaveLength(1)
    expect(existsSync(dir)).toBe(true)
    const [container = ''] = left()
    const name = container.replace('.pid', '')
    expect(readdirSync(tmpdir()).filter((each) => each.startsWith(name))).toEqual([])
  })
})

describe('an engine', () => {
  test('is looked for on PATH, in absolute folders, and must answer', async () => {
    const { dir, engine, mark } = createEngine()
    const env = { PATH: `relative::${dir}`, SELLER_TOKEN: 'x', DOCKER_HOST: 'unix:///x' }
    expect(await findEngine(env)).toEqual({
      engine: { ...engine, env: { PATH: env.PATH, DOCKER_HOST: env.DOCKER_HOST } },
      fault: null,
    })
    const podman = createEngine('podman')
    podman.mark('boundless')
    const without = await findEngine({ PATH: podman.dir })
    expect(without.fault).toContain('ignores bounds of memory and processes')
    expect((await findEngine({ PATH: `${podman.dir}:${dir}` })).engine?.name).toBe('docker')
    mark('no-daemon')
    expect((await findEngine(env)).fault).toContain('(Cannot connect to the daemon.)')
  })

  test('that is missing ends the command with 2 before anything is probed', async () => {
    const child = spawn(
      process.execPath,
      ['functions/commands/evidence/probe.ts', '--packages'],
      // A content folder that isn't there would end with 1.
      { env: { PATH: '/nowhere', CONTENT_DIR: '/nowhere' } },
    )
    let said = ''
    child.stderr.on('data', (chunk) => {
      said += chunk
    })
    const [code] = await once(child, 'close')
    expect({ code, said: said.trim() }).toEqual({
      code: 2,
      said: '--packages runs packages in a sandbox. None of docker, podman and bwrap is on PATH. Install or start one, or leave --packages out.',
    })
  })
})
