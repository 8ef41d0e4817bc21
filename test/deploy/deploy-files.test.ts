import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseConfig } from '../../functions/ports/config.ts'
import { serveFixture } from '../support/running-service.ts'
import { tempFolder } from '../support/temp-folder.ts'

const TOKEN = 'a-token-of-this-test'
const read = (name: string) => readFileSync(join('docs/deploy', name), 'utf8')
const FIGURE = /\b(?:waypost|nodejs|process)_[a-z0-9_]+/g

const alerts: { groups: { rules: { alert: string; expr: string; annotations: object }[] }[] } =
  parse(read('alerts.yml'))
const rules = alerts.groups.flatMap((group) => group.rules)
const dashboard: { panels: { id: number; targets: { expr: string }[] }[] } = JSON.parse(
  read('dashboard.json'),
)

describe('alerts and dashboard', () => {
  const service = serveFixture({ METRICS_TOKEN: TOKEN })
  let served: Set<string>
  beforeAll(async () => {
    const headers = { authorization: `Bearer ${TOKEN}` }
    const text = await (await fetch(`${service.url}/metrics`, { headers })).text()
    served = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name))
  })

  test('ask for figures that a server gives', () => {
    const requested = [
      ...rules.map(({ expr }) => expr),
      ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ].flatMap((expr) => [...expr.matchAll(FIGURE)].map(([name]) => name.replace(/_bucket$/, '')))
    expect(requested.length).toBeGreaterThan(15)
    expect(requested.filter((name) => !served.has(name))).toEqual([])
  })

  test('cover every figure that the manual says to watch', () => {
    const [, table = ''] = readFileSync('docs/operate.md', 'utf8').split('## What to watch')
    const named = [...table.matchAll(/^\| `((?:waypost|nodejs)_[a-z0-9_]+)/gm)].map(
      ([, name = '']) => name,
    )
    expect(named.length).toBeGreaterThan(8)
    for (const name of named) {
      expect(
        rules.some(({ expr }) => expr.includes(name)),
        name,
      ).toBe(true)
      expect(read('dashboard.json'), name).toContain(name)
    }
  })

  test('have one name each, and panels do not overlap', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
  })
})

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0
if (!hasSystemd) console.log('systemd is not installed: the check of its unit is skipped')

test.skipIf(!hasSystemd)('systemd takes the unit', () => {
  const dir = tempFolder('unit')
  const unit = join(dir, 'waypost.service')
  // The folder of an installation is not there.
  writeFileSync(
    unit,
    read('waypost.service').replaceAll('/opt/waypost/node_modules/.bin/node', process.execPath),
  )
  const { status, stderr, stdout } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], {
    encoding: 'utf8',
  })
  expect([status, stdout + stderr]).toEqual([0, ''])
})

test('the environment that the unit and Fly set is one that a server takes', () => {
  const unit = /^Environment=(.*)$/m.exec(read('waypost.service'))?.[1] ?? ''
  const ofUnit = Object.fromEntries(unit.split(' ').map((pair) => pair.split('=')))
  expect(parseConfig(ofUnit)).toMatchObject({ STATE_DIR: '/var/lib/waypost/state' })
  const [, table = ''] = read('fly.toml').split('[env]')
  const ofFly = Object.fromEntries(
    [...(table.split('\n[')[0] ?? '').matchAll(/(\w+) = "(.*)"/g)].map(([, name, value]) => [
      name,
      value,
    ]),
  )
  expect(parseConfig(ofFly)).toMatchObject({ BASE_URL: 'https://waypost.example', TRUST_PROXY: 2 })
})
