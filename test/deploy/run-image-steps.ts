import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort } from '../support/free-port.ts'
import { readDockerfile, type Stage, toCommand } from './read-dockerfile.ts'

/**
 * `npm run image:steps`: the Dockerfile's steps one by one where there is no container engine: each
 * stage in a folder of its own, with nothing in the environment but what the file sets, from what git
 * knows of this checkout. Then the image's command is started and its health check asked.
 */
const root = mkdtempSync(join(tmpdir(), 'waypost-image-'))
const context = join(root, 'context')
mkdirSync(context)
run(
  'sh',
  ['-c', `git ls-files -z | xargs -0 cp --parents -t ${context}`],
  process.cwd(),
  process.env,
)
rmSync(join(context, 'test'), { recursive: true, force: true })

const npm = spawnSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).stdout.trim()
/** How this machine reaches its registry, as an engine would hand on; nothing else of its environment. */
const REGISTRY = Object.fromEntries(
  ['NODE_EXTRA_CA_CERTS', 'HTTPS_PROXY', 'https_proxy', 'npm_config_registry'].flatMap((name) =>
    process.env[name] === undefined ? [] : [[name, process.env[name]]],
  ),
)
const PATH = [dirname(process.execPath), dirname(npm), '/usr/bin', '/bin'].join(':')

interface Built {
  dir: string
  env: Record<string, string>
}

const stages = readDockerfile()
const built = new Map<string, Built>()
for (const stage of stages) built.set(stage.name, buildStage(stage))
try {
  await start(stages.at(-1))
} finally {
  rmSync(root, { recursive: true, force: true })
}

function buildStage(stage: Stage): Built {
  const dir = join(root, stage.name)
  const env: Record<string, string> = { ...REGISTRY, PATH, HOME: join(dir, 'home') }
  const args = new Map<string, string>()
  const local = (text: string) =>
    text
      .replace(/(^|[\s=])\/(?=app|state)/g, `$1${dir}/`)
      .replace(/\$(\w+)/g, (_, name) => args.get(name) ?? '')
  mkdirSync(join(dir, 'app'), { recursive: true })
  for (const { name, rest } of stage.steps) {
    if (name === 'ARG') args.set(rest.split('=')[0] ?? '', rest.split('=')[1] ?? '')
    else if (name === 'ENV')
      for (const pair of rest.split(' '))
        env[pair.split('=')[0] ?? ''] = local(pair).slice(pair.indexOf('=') + 1)
    else if (name === 'COPY') copy(rest, join(dir, 'app'))
    else if (name === 'RUN')
      run(
        'sh',
        ['-c', local(rest).replace('node:node', `${process.getuid?.()}`)],
        join(dir, 'app'),
        env,
      )
    else continue
    console.log(`${stage.name}: ${name} ${rest}`)
  }
  return { dir, env }
}

function copy(rest: string, app: string): void {
  const [, from] = /^--from=(\w+) /.exec(rest) ?? []
  const words = rest.replace(/^--from=\w+ /, '').split(' ')
  const to = join(app, words.pop() ?? '')
  const source = from === undefined ? context : (built.get(from)?.dir ?? '')
  for (const word of words) {
    const path = join(source, word)
    const isInto = words.length > 1
    if (word === '.')
      for (const entry of readdirSync(path)) copyTo(join(path, entry), join(to, entry))
    else copyTo(path, isInto ? join(to, word) : to)
  }
}

function copyTo(from: string, to: string): void {
  if (!existsSync(from)) throw new Error(`COPY: there is no ${from}`)
  cpSync(from, to, { recursive: true, verbatimSymlinks: true })
}

function run(command: string, words: string[], cwd: string, env: NodeJS.ProcessEnv): void {
  const { status, stdout, stderr } = spawnSync(command, words, { cwd, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}:\n${stdout}${stderr}`)
}

async function start(stage: Stage | undefined): Promise<void> {
  const { dir, env } = built.get(stage?.name ?? '') ?? { dir: '', env: {} }
  const wordsOf = (name: string) =>
    toCommand(stage?.steps.find((step) => step.name === name)?.rest ?? '[]')
  const port = String(await findFreePort())
  const options = { cwd: join(dir, 'app'), env: { ...env, PORT: port, HOST: '127.0.0.1' } }
  const [command = '', ...words] = wordsOf('CMD')
  const server = spawn(command, words, { ...options, stdio: 'inherit' })
  try {
    const [check = '', ...checkWords] = wordsOf('HEALTHCHECK')
    let isHealthy = false
    for (let tries = 0; tries < 200 && !isHealthy; tries += 1) {
      await sleep(200)
      isHealthy = spawnSync(check, checkWords, options).status === 0
    }
    const page = await fetch(`http://127.0.0.1:${port}/`)
    console.log(`healthy: ${isHealthy}, home page: ${page.status}`)
    if (!isHealthy || page.status !== 200) process.exitCode = 1
  } finally {
    server.kill('SIGTERM')
  }
}
