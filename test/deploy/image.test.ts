import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { readDockerfile, toCommand } from './read-dockerfile.ts'

const [build, serve] = readDockerfile()
const stepsOf = (name: string) => (serve?.steps ?? []).filter((step) => step.name === name)

test('the image holds what is served and nothing that builds it, and does not run as root', () => {
  expect([build?.name, serve?.name]).toEqual(['build', 'serve'])
  const copied = stepsOf('COPY').flatMap(({ rest }) => rest.split(' ').slice(0, -1))
  expect(copied).not.toContain('.')
  expect(copied).not.toContain('content')
  expect(stepsOf('RUN')[0]?.rest).toBe('npm ci --omit=dev')
  expect(stepsOf('USER').map(({ rest }) => rest)).toEqual(['node'])
  const sources = copied.filter((word) => !word.startsWith('-') && word !== '/app/dist')
  for (const source of sources) expect(existsSync(source), source).toBe(true)
})

test('its command and its health check are files of the project', () => {
  for (const name of ['CMD', 'HEALTHCHECK']) {
    const words = toCommand(stepsOf(name)[0]?.rest ?? '[]')
    expect(words[0]).toBe('node')
    expect(existsSync(words.at(-1) ?? ''), words.join(' ')).toBe(true)
  }
})

test('compose runs two instances behind the rules of the release that they all share', () => {
  const { services, configs } = parse(readFileSync('compose.yaml', 'utf8'), { merge: true })
  expect(services.functions.deploy.replicas).toBe(2)
  expect(services.functions.environment.OUT_DIR).toBe('/release')
  expect(services.build.environment.OUT_DIR).toBe('/release')
  expect(services.functions.volumes).toEqual(['release:/release:ro'])
  expect(services.nginx.volumes).toEqual(['release:/srv/directory:ro'])
  expect(configs.nginx.content).toContain('upstream directory_functions { server functions:4321;')
  expect(configs.nginx.content).toContain('include /srv/directory/current/deploy/nginx.conf;')
  for (const { build: from } of Object.values<{ build?: { target: string } }>(services))
    if (from !== undefined) expect(['build', 'serve']).toContain(from.target)
})

test('workflows run commands that the project has', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  for (const name of ['content', 'refresh', 'test']) {
    const text = readFileSync(`.github/workflows/${name}.yml`, 'utf8')
    const { jobs, permissions } = parse(text)
    expect(Object.keys(jobs)).toHaveLength(1)
    expect(permissions.contents).toMatch(/^(read|write)$/)
    for (const [, script = ''] of text.matchAll(/npm run (?:-s )?([\w:]+)/g))
      expect(Object.keys(scripts)).toContain(script)
  }
})
