import { basename, dirname } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { KEPT_BEHIND, LAYERS, MAX_FILES_OF_A_FOLDER, MAX_LINES } from './support/arrows.ts'
import { findCycles, type Import, toImports } from './support/import-graph.ts'
import { findNetworkUse } from './support/network-use.ts'
import {
  parseSource,
  readSourceTree,
  type SourceFile,
  toSourceFile,
  walk,
} from './support/source-tree.ts'

const files = readSourceTree()
const imports = toImports(files)
const product = files.filter(({ path }) => isOwnCode(path))

const WENT = /^(?:deeds?|doors?|told|said|asked|dear|dearer|standings?)$/i
/** Columns and fields of published documents, whose readers know them by these names. */
const PUBLISHED = new Set(['asked', 'asked_at', 'payment_asked_again', 'said_at', 'told'])

/** What each rule finds in the files it holds for: all are asked of a file that is parsed once. */
const RULES: readonly [rule: Rule, holdsFor: (path: string) => boolean][] = [
  [isReExport, () => true],
  [isMock, () => true],
  [isStopwatch, (path) => isUnder(path, 'test') && !isUnder(path, 'test/bench')],
  ...[isLongFunction, isAny, isBareCast, isSpreadCall].map((rule): [Rule, typeof isOwnCode] => [
    rule,
    isOwnCode,
  ]),
  [isImpure, (path) => isUnder(path, 'src/domain')],
  [isOldName, (path) => isOwnCode(path) && path.endsWith('.ts')],
]
/** A test without any of these texts keeps the rules that hold for tests: it is not parsed. */
const HINTS =
  /export\s+(?:type\s+)?[*{]|vi\.(?:mock|doMock|hoisted)|performance\.now|process\.hrtime/
const networkUses: string[] = []
const found = findAll(files)

describe('imports', () => {
  test('the reader sees every way of importing', () => {
    const ways = [
      "import { a } from './value.ts'",
      "import type { b } from './type.ts'",
      "import { type c } from './inline-type.ts'",
      "import './effect.ts'",
      "export * from './export.ts'",
      "const d = await import('./dynamic.ts')",
      "type E = import('./in-a-type.ts').E",
    ]
    const seen = ways.flatMap((text) => toSourceFile('src/x.ts', text).specifiers)
    expect(seen).toEqual(ways.map((text) => /'(.*)'/.exec(text)?.[1]))
    const page =
      "---\nimport A from './a.astro'\n---\n<p>from './no.ts'</p><script>import './b.ts'</script><script src=\"./c.ts\"></script>"
    expect(toSourceFile('src/x.astro', page).specifiers).toEqual(['./a.astro', './b.ts', './c.ts'])
    expect(imports.length).toBeGreaterThan(200)
  })

  test('every file belongs to a layer', () => {
    expect(files.filter(({ path }) => layerOf(path) === null).map(({ path }) => path)).toEqual([])
  })

  test('every import stays inside what its layer may use', () => {
    expect(imports.filter((each) => !isAllowed(each)).map(show)).toEqual([])
  })

  test('every import of ours names a file that exists, with its ending', () => {
    const paths = new Set(files.map(({ path }) => path))
    const code = imports.filter(
      ({ to, isOurs }) => isOurs && !/\.(?:css|json|md|woff2\?url)$/.test(to),
    )
    expect(code.filter(({ to, from }) => !paths.has(to) && isOwnCode(from)).map(show)).toEqual([])
  })

  test('every file of ours that a comment names in backticks exists', () => {
    const known = files.map(({ path }) => `/${path}`)
    const lost = (text: string) =>
      [...text.matchAll(/^\s*(?:\*|\/\/|\/\*\*).*?`([\w./-]+\.(?:ts|astro))`/gm)]
        .map(([, name = '']) => name)
        .filter((name) => !known.some((path) => path.endsWith(`/${name}`)))
    expect(lost(' * See `gone-file.ts`.\n// and `plan-query.ts`')).toEqual(['gone-file.ts'])
    expect(product.flatMap(({ path, text }) => lost(text).map((name) => ({ path, name })))).toEqual(
      [],
    )
  })

  test('no file imports itself by a detour, types included', () => {
    expect(
      findCycles([
        { from: 'a', to: 'b' },
        { from: 'b', to: 'c' },
        { from: 'c', to: 'b' },
      ]),
    ).toEqual(['b → c → b'])
    expect(findCycles(imports.filter(({ isOurs }) => isOurs))).toEqual([])
  })

  test('rooms import one way: none reaches itself by a detour, types included', () => {
    const between = toRoomImports(dirname)
    expect(between.length).toBeGreaterThan(100)
    expect(findCycles(between)).toEqual([])
  })

  test('no two rooms of the domain, the site or the build import each other', () => {
    const between = toRoomImports(roomOf).filter(({ from }) => !isUnder(from, 'functions'))
    const seen = new Set(between.map(({ from, to }) => `${from} ${to}`))
    const mutual = between.filter(({ from, to }) => from < to && seen.has(`${to} ${from}`))
    expect(mutual).toEqual([])
  })

  test('what composes the service is imported by commands and tests alone', () => {
    const users = imports.filter(({ to }) => isUnder(to, 'functions/service'))
    const places = new Set(users.map(({ from }) => roomOf(from)).filter(isOwnCode))
    expect([...places].sort()).toEqual(['functions/commands', 'functions/service'])
  })

  test.each(KEPT_BEHIND)('%s stays behind %i file', (name, most) => {
    const users = imports.filter(({ from, to }) => to === name && isOwnCode(from))
    const places = new Set(users.map(({ from }) => from))
    expect(places.size, [...places].join(', ')).toBeLessThanOrEqual(most)
  })
})

describe('files', () => {
  const VAGUE =
    /^(?:utils?|helpers?|types?|common|misc|shared|lib|constants?|core|base|manager|stuff|tools?|functions?|index|main|mod)$/

  test('no file has a vague name', () => {
    const isRoute = (path: string) => path.startsWith('src/pages/')
    const vague = files.filter(({ path }) => !isRoute(path) && VAGUE.test(nameOf(path)))
    expect(vague.map(({ path }) => path)).toEqual([])
  })

  test('every name is kebab-case, components and layouts too', () => {
    const odd = files.filter(({ path }) => {
      const name = nameOf(path).replace(/\.(?:test|d|server|client)$/, '')
      return !/^(?:[a-z0-9]+(?:-[a-z0-9]+)*|\[(?:\.\.\.)?[a-z_]+\])(?:\.[a-z]+)*$/.test(name)
    })
    expect(odd.map(({ path }) => path)).toEqual([])
  })

  test('no file is a barrel: nothing is exported from where it was not written', () => {
    expect(shownBy(isReExport)).toEqual([])
  })

  test('no function is longer than 40 lines', () => {
    expect(shownBy(isLongFunction)).toEqual([])
  })

  test(`a folder holds at most ${MAX_FILES_OF_A_FOLDER} files`, () => {
    const folders = Map.groupBy(product, ({ path }) => dirname(path))
    const full = [...folders].filter(([, held]) => held.length > MAX_FILES_OF_A_FOLDER)
    expect(full.map(([folder, held]) => `${folder}: ${held.length}`)).toEqual([])
  })

  test('no line of markup is longer than 160 characters', () => {
    const markup = product.filter(({ path }) => path.endsWith('.astro'))
    expect(markup.length).toBeGreaterThan(30)
    const long = markup.flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, index) => (line.length > 160 ? [`${path}:${index + 1}`] : [])),
    )
    expect(long).toEqual([])
  })

  test('a page is found by its address, and what is no page is none', () => {
    const pages = product.filter(({ path }) => path.startsWith('src/pages/'))
    expect(pages.length).toBeGreaterThan(30)
    const layout = /from '(?:\.\.\/)+layouts\/|search-page\.astro'/
    const odd = pages.filter(({ path, text }) => path.endsWith('.astro') !== layout.test(text))
    expect(odd.map(({ path }) => path)).toEqual([])
  })

  test(`no module is longer than ${MAX_LINES} lines`, () => {
    const long = product.filter(({ lines }) => lines > MAX_LINES)
    expect(long.map(({ path, lines }) => `${path}: ${lines}`)).toEqual([])
  })
})

describe('code', () => {
  test('no test replaces a module of ours by a mock', () => {
    expect(shownBy(isMock)).toEqual([])
  })

  test('no test measures time: only benchmarks read a stopwatch', () => {
    expect(shownBy(isStopwatch)).toEqual([])
  })

  test('nothing is typed any, and no error of the compiler is silenced', () => {
    expect(shownBy(isAny)).toEqual([])
    const silenced = product.filter(({ text }) => /@ts-(?:ignore|expect-error|nocheck)/.test(text))
    expect(silenced.map(({ path }) => path)).toEqual([])
  })

  test('names are in the field’s words: no identifier holds one that went', () => {
    expect(
      ['SearchDoor', 'READ_DOOR', 'giveWay', 'dear', 'toSaid'].filter((name) => !isOld(name)),
    ).toEqual([])
    expect(['indoors', 'endearing', 'understanding'].filter(isOld)).toEqual([])
    expect(shownBy(isOldName)).toEqual([])
  })

  test('a cast carries its reason in a comment beside it', () => {
    expect(shownBy(isBareCast)).toEqual([])
  })

  test('data is never spread into the arguments of a call: 120,000 of them overflow the stack', () => {
    expect(shownBy(isSpreadCall)).toEqual([])
  })

  test('the domain reads no clock, no chance, no environment and no network', () => {
    const domain = product.filter(({ path }) => path.startsWith('src/domain/'))
    expect(domain.length).toBeGreaterThan(30)
    expect(shownBy(isImpure)).toEqual([])
  })

  test('no other file than the guard’s opens a connection', () => {
    expect(networkUses).toEqual([])
  })

  test('functions/http is pure fetch: hosts without Node run it', () => {
    const parts = imports.filter(({ from }) => isUnder(from, 'functions/http'))
    expect(parts.length).toBeGreaterThan(3)
    expect(parts.filter(({ to }) => to.startsWith('node:')).map(show)).toEqual([])
  })

  test('the eyes of this test are open: each rule finds what it looks for', () => {
    const see = (text: string, rule: Rule) =>
      findNodes(parseSource(toSourceFile('x.ts', text)), rule).length
    expect(see("export * from './a.ts'", isReExport)).toBe(1)
    expect(see("export { a } from './a.ts'", isReExport)).toBe(1)
    expect(see("vi.mock('./a.ts')", isMock)).toBe(1)
    expect(see('const dearDoor = 1', isOldName)).toBe(1)
    expect(see('let a: any', isAny)).toBe(1)
    expect(see('performance.now() - started', isStopwatch)).toBe(1)
    expect(see('process.hrtime.bigint()', isStopwatch)).toBe(1)
    expect(see('const a = b as C', isBareCast)).toBe(1)
    expect(see('// The build wrote it.\nconst a = b as C', isBareCast)).toBe(0)
    expect(see("const a = ['x'] as const", isBareCast)).toBe(0)
    expect(see('const a = b!', isBareCast)).toBe(1)
    expect(see('rows.push(...more)', isSpreadCall)).toBe(1)
    expect(see('new Set(...rows)', isSpreadCall)).toBe(1)
    expect(see('// One row.\nrun(...cells)', isSpreadCall)).toBe(0)
    expect(see('f([...rows], { ...row })', isSpreadCall)).toBe(0)
    const lines = (count: number) => 'a()\n'.repeat(count)
    expect(see(`function f() {\n${lines(38)}}`, isLongFunction)).toBe(0)
    expect(see(`function f() {\n${lines(39)}}`, isLongFunction)).toBe(1)
    expect(see(`function f() {\n${lines(30)}g(() => {\n${lines(30)}})\n}`, isLongFunction)).toBe(0)
    const impure = ['Date.now()', 'new Date()', 'Math.random()', 'process.env.X', 'fetch(url)']
    expect(impure.map((text) => see(text, isImpure))).toEqual(impure.map(() => 1))
    expect(see('Date.parse(text); new Date(text)', isImpure)).toBe(0)
  })
})

function layerOf(path: string): string | null {
  const layers = Object.keys(LAYERS).filter((layer) => isUnder(path, layer))
  return layers.sort((a, b) => b.length - a.length)[0] ?? null
}

function isUnder(path: string, layer: string): boolean {
  return layer === '' || path === layer || path.startsWith(`${layer}/`)
}

/** Imports between rooms, each pair once. */
function toRoomImports(toRoom: (path: string) => string): Pick<Import, 'from' | 'to'>[] {
  const between = imports
    .filter(({ isOurs, from }) => isOurs && isOwnCode(from))
    .map(({ from, to }) => ({ from: toRoom(from), to: toRoom(to) }))
    .filter(({ from, to }) => from !== to)
  return [...new Map(between.map((each) => [`${each.from} ${each.to}`, each])).values()]
}

/** @example roomOf('src/domain/probe/finding.ts') → 'src/domain/probe' */
function roomOf(path: string): string {
  const depth = /^(?:src|packages)\//.test(path) ? 3 : 2
  return dirname(path).split('/').slice(0, depth).join('/')
}

function isAllowed({ from, to, isOurs }: Import): boolean {
  const layer = layerOf(from)
  const rule = layer === null ? undefined : LAYERS[layer]
  if (layer === null || rule === undefined) return false
  if (isOurs) return [layer, ...rule.ours].some((folder) => isUnder(to, folder))
  return rule.packages.some((name) =>
    name.endsWith('*') ? to.startsWith(name.slice(0, -1)) : to === name,
  )
}

function isOwnCode(path: string): boolean {
  return !path.startsWith('test/')
}

function nameOf(path: string): string {
  return basename(path).replace(/\.(?:ts|mts|mjs|js|astro)$/, '')
}

function show({ from, to }: Import): string {
  return `${from} → ${to}`
}

type Rule = (node: ts.Node) => boolean

function isOldName(node: ts.Node): boolean {
  if (!ts.isIdentifier(node) || !isOld(node.text)) return false
  const { parent, text } = node
  const isMember =
    ts.isPropertyAccessExpression(parent) ||
    ts.isPropertyAssignment(parent) ||
    ts.isPropertySignature(parent) ||
    ts.isBindingElement(parent)
  return !(PUBLISHED.has(text) && isMember)
}

function isOld(name: string): boolean {
  return /giveWay|letGo/.test(name) || splitName(name).some((part) => WENT.test(part))
}

/** By rule, `path:line text` of each node. */
function findAll(tree: readonly SourceFile[]): Map<Rule, string[]> {
  const all = new Map(RULES.map(([rule]): [Rule, string[]] => [rule, []]))
  for (const file of tree) {
    if (!isOwnCode(file.path) && !HINTS.test(file.text)) continue
    const source = parseSource(file)
    const nodes = walk(source)
    if (isOwnCode(file.path)) networkUses.push(...findNetworkUse(file, source))
    for (const [rule, holdsFor] of RULES)
      if (holdsFor(file.path)) all.get(rule)?.push(...findNodes(source, rule, nodes))
  }
  return all
}

function shownBy(rule: Rule): string[] {
  return found.get(rule) ?? expect.fail('expected one of the rules')
}

function findNodes(source: ts.SourceFile, rule: Rule, nodes = walk(source)): string[] {
  return nodes.filter(rule).map((node) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart())
    return `${source.fileName}:${line + 1} ${node.getText().slice(0, 60)}`
  })
}

/** @example splitName('readDoorBody') → ['read', 'Door', 'Body'] */
function splitName(name: string): string[] {
  return name.split(/_|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
}

function isAny(node: ts.Node): boolean {
  return node.kind === ts.SyntaxKind.AnyKeyword
}

function isReExport(node: ts.Node): boolean {
  return ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined
}

function isMock(node: ts.Node): boolean {
  return (
    ts.isCallExpression(node) && /^vi\.(?:mock|doMock|hoisted)$/.test(node.expression.getText())
  )
}

function isStopwatch(node: ts.Node): boolean {
  return (
    ts.isPropertyAccessExpression(node) &&
    /^(?:performance\.now|process\.hrtime)$/.test(node.getText())
  )
}

function isBareCast(node: ts.Node): boolean {
  if (ts.isNonNullExpression(node)) return !hasComment(node)
  if (!ts.isAsExpression(node) && !ts.isTypeAssertionExpression(node)) return false
  return node.type.getText() !== 'const' && !hasComment(node)
}

/** What bounds the list stands in a comment beside it. */
function isSpreadCall(node: ts.Node): boolean {
  if (!ts.isSpreadElement(node) || hasComment(node)) return false
  return ts.isCallExpression(node.parent) || ts.isNewExpression(node.parent)
}

/** A factory is measured without the functions it closes over: each of them is measured itself. */
function isLongFunction(node: ts.Node): boolean {
  if (!ts.isFunctionLike(node)) return false
  const inner = outermostFunctions(node)
  return linesOf(node) - inner.reduce((sum, each) => sum + linesOf(each) - 1, 0) > 40
}

function outermostFunctions(node: ts.Node): ts.Node[] {
  const found: ts.Node[] = []
  ts.forEachChild(node, (child) => {
    found.push(...(ts.isFunctionLike(child) ? [child] : outermostFunctions(child)))
  })
  return found
}

function linesOf(node: ts.Node): number {
  const source = node.getSourceFile()
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line
  return lineAt(node.getEnd()) - lineAt(node.getStart()) + 1
}

/** A comment on the line or right above it; the reason itself is for the reviewer to judge. */
function hasComment(node: ts.Node): boolean {
  const source = node.getSourceFile()
  const { line } = source.getLineAndCharacterOfPosition(node.getStart())
  const lines = source.text.split('\n')
  return [lines[line], lines[line - 1]].some((text) => /(?:\/\/|\*\/|^\s*\*)/.test(text ?? ''))
}

function isImpure(node: ts.Node): boolean {
  if (ts.isNewExpression(node))
    return node.expression.getText() === 'Date' && (node.arguments?.length ?? 0) === 0
  if (ts.isPropertyAccessExpression(node))
    return /^(?:Date\.now|Math\.random|process\.\w+|performance\.now|crypto\.\w+)$/.test(
      node.getText(),
    )
  return (
    ts.isCallExpression(node) &&
    /^(?:fetch|setTimeout|setInterval)$/.test(node.expression.getText())
  )
}
