import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { fetchPackage } from '../../packages/run-check/fetch-package.ts'
import { listen } from '../support/listen.ts'
import { IS_LONG } from '../support/long.ts'
import { tempFolder } from '../support/temp-folder.ts'

const root = tempFolder('fetch')

const trace = join(root, 'trace')
const requested: string[] = []
const MANIFESTS: Record<string, object> = {
  scripted: {
    bin: { other: './main.js', scripted: './main.js' },
    scripts: Object.fromEntries(
      ['preinstall', 'install', 'postinstall', 'prepare'].map((name) => [
        name,
        `echo ran > ${trace}`,
      ]),
    ),
  },
  'leads-away': { bin: './main.js', dependencies: { far: 'REGISTRY/elsewhere/far.tgz' } },
  library: {},
}

/** A registry of loopback: packages' descriptions, and their archives. */
let registry = ''
const server = createServer((request, response) => {
  const url = request.url ?? ''
  requested.push(url)
  const name = url.split('/')[1] ?? ''
  const manifest = MANIFESTS[name]
  if (manifest === undefined) {
    response.writeHead(404).end('{}')
    return
  }
  if (url.endsWith('.tgz')) {
    response.end(readFileSync(pack(name, manifest)))
    return
  }
  const version = {
    ...JSON.parse(JSON.stringify(manifest).replaceAll('REGISTRY', registry)),
    ...{ name, version: '1.0.0', dist: { tarball: `${registry}/${name}/${name}-1.0.0.tgz` } },
  }
  const page = { name, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page))
})
beforeAll(async () => {
  registry = `http://127.0.0.1:${await listen(server)}`
  vi.stubEnv('npm_config_registry', registry)
  // As npm does where nobody set it otherwise.
  vi.stubEnv('npm_config_omit_lockfile_registry_resolved', 'false')
})
afterAll(() => {
  vi.unstubAllEnvs()
  server.close()
})

function pack(name: string, manifest: object): string {
  const folder = join(root, `pack-${name}`, 'package')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'main.js'), '#!/usr/bin/env node\n'.padEnd(3 * 1024 ** 2, '//x\n'))
  const described = { name, version: '1.0.0', ...manifest }
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify(described).replaceAll('REGISTRY', registry),
  )
  const file = join(root, `${name}.tgz`)
  execFileSync('tar', ['-czf', file, '-C', join(folder, '..'), 'package'])
  return file
}

function fetch(identifier: string, limits = { ms: 60_000, bytes: 64 * 1024 ** 2 }) {
  const folder = mkdtempSync(join(root, 'to-'))
  const plan = {
    registry: 'npm',
    identifier,
    version: null,
    env: {},
    args: ['--in=<DIR>'],
  } as const
  return fetchPackage({ ...plan, args: [...plan.args] }, folder, limits)
}

describe('a package is fetched', () => {
  test('without running any script of it, and is started as npx would', async () => {
    const fetched = await fetch('scripted')
    expect(fetched).toMatchObject({
      command: ['/package/node_modules/.bin/scripted', '--in=/tmp'],
    })
    expect(existsSync(trace)).toBe(false)
    const { folder } = typeof fetched === 'string' ? { folder: '' } : fetched
    expect(existsSync(join(folder, 'node_modules/.bin/scripted'))).toBe(true)
    // Nor does the program learn where an operator's registry is.
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    for (const file of files.filter((each) => each.isFile()))
      expect(readFileSync(join(file.parentPath, file.name), 'utf8')).not.toContain(registry)
  })

  test('from the registry alone: what it needs from elsewhere is not asked for', async () => {
    expect(await fetch('leads-away')).toContain('EALLOWREMOTE')
    expect(requested.filter((url) => url.includes('elsewhere'))).toEqual([])
  })

  test.each([
    ['missing', 'E404', undefined],
    ...(IS_LONG ? [['library', 'no program to run', undefined] as const] : []),
    ['scripted', 'larger than 1 MB', { ms: 60_000, bytes: 1024 ** 2 }],
    ['scripted', 'took too long', { ms: 50, bytes: 1024 ** 2 }],
  ] as const)('or %s is refused: %s', async (name, words, limits) => {
    const stated = await fetch(name, limits)
    expect(typeof stated).toBe('string')
    expect(stated).toContain(words)
    expect(stated).not.toContain('127.0.0.1')
  })
})
