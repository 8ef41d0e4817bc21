import ts from 'typescript'
import { parseSource, type SourceFile, walk } from './source-tree.ts'

/** Where requests may leave the process, and by what. */
const WAYS: readonly { under: string; may: 'all' | 'fetch' }[] = [
  // Everything that the server and the importers send; the guard judges each address.
  { under: 'functions/net/', may: 'all' },
  // Asks the server of its own container.
  { under: 'functions/commands/health.ts', may: 'fetch' },
  // In a browser: the page asks the server that it came from.
  ...['site', 'pages', 'components', 'layouts'].map(
    (room) => ({ under: `src/${room}/`, may: 'fetch' }) as const,
  ),
  // Shares the global object with the bundled pages, and is part of the build alone.
  { under: 'src/compiled.ts', may: 'fetch' },
  // At somebody else's: the client of the directory.
  { under: 'packages/client/', may: 'fetch' },
]

const MODULES = /^(?:node:)?(?:http|https|http2|net|tls|dns|dgram)(?:\/promises)?$|^undici(?:\/|$)/
/** What those modules have besides: servers, and judging text. */
const HARMLESS = new Set(['createServer', 'STATUS_CODES', 'isIP', 'isIPv4', 'isIPv6'])
const GLOBALS = new Set(['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest', 'sendBeacon'])
/** Objects that have the globals as members. */
const WHOLE = new Set(['globalThis', 'global', 'window', 'self'])
/** A file without any of these words is not parsed. */
const HINTS =
  /\b(?:fetch|WebSocket|EventSource|XMLHttpRequest|sendBeacon|globalThis|global|window|self|https?2?|net|tls|dns|dgram|undici|\w*[bB]inding)\b/

/**
 * The places of a file where it could send something by a way of its own, under whatever name: every
 * use of the global `fetch` and its like as a value, and every import of a module that opens
 * connections, unless it only takes types, servers or judges of text.
 *
 * Known limit: a module whose name is put together at run time is not seen, nor what packages send.
 */
export function findNetworkUse(file: SourceFile, parsed?: ts.SourceFile): string[] {
  const way = WAYS.find(({ under }) => file.path.startsWith(under))
  if (way?.may === 'all' || !HINTS.test(file.text)) return []
  const source = parsed ?? parseSource(file)
  return walk(source)
    .filter(
      (node) => isConnectingImport(node) || isLoader(node) || (way === undefined && isGlobal(node)),
    )
    .map((node) => {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart())
      return `${file.path}:${line + 1} ${node.getText().slice(0, 60)}`
    })
}

function isConnectingImport(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node))
    return isModule(node.moduleSpecifier) && takesConnections(node.importClause)
  if (ts.isExportDeclaration(node)) return isModule(node.moduleSpecifier) && !node.isTypeOnly
  return (
    ts.isImportEqualsDeclaration(node) &&
    ts.isExternalModuleReference(node.moduleReference) &&
    isModule(node.moduleReference.expression)
  )
}

function isModule(node: ts.Expression | undefined): boolean {
  return node !== undefined && ts.isStringLiteralLike(node) && MODULES.test(node.text)
}

function takesConnections(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined || clause.isTypeOnly) return false
  const { name, namedBindings } = clause
  if (name !== undefined || namedBindings === undefined) return true
  if (ts.isNamespaceImport(namedBindings)) return true
  return namedBindings.elements.some(
    ({ isTypeOnly, propertyName, name }) =>
      !isTypeOnly && !HARMLESS.has((propertyName ?? name).text),
  )
}

/** A module that is loaded by its name, whatever the function is called, or one of Node's own parts. */
function isLoader(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node))
    return node.expression.getText() === 'process' && /^_?\w*[bB]inding$/.test(node.name.text)
  if (!ts.isCallExpression(node)) return false
  const [name] = node.arguments
  if (!isModule(name)) return false
  const isNamed = name !== undefined && /^'node:|^"node:|undici/.test(name.getText())
  return isNamed || /^(?:import|require|process\.getBuiltinModule)$/.test(node.expression.getText())
}

function isGlobal(node: ts.Node): boolean {
  if (!ts.isIdentifier(node)) return false
  const { parent, text } = node
  if (!GLOBALS.has(text) && !WHOLE.has(text)) return false
  if (ts.isPropertyAccessExpression(parent) && parent.name === node)
    return text === 'sendBeacon' || (GLOBALS.has(text) && isWhole(parent.expression))
  if (isDeclaration(node) || isBound(node, text)) return false
  // All of it in other hands, or a member by a computed name.
  const isMember = ts.isPropertyAccessExpression(parent)
  return GLOBALS.has(text) || (WHOLE.has(text) && !isMember)
}

function isWhole(node: ts.Expression): boolean {
  return ts.isIdentifier(node) && WHOLE.has(node.text)
}

/** The name of a member, a parameter or a type; not a value that is used. */
function isDeclaration(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isTypeNode(parent) || ts.isTypeQueryNode(parent) || ts.isQualifiedName(parent)) return true
  if (ts.isBindingElement(parent)) return parent.name === node || parent.propertyName === node
  if (ts.isExportSpecifier(parent) || ts.isShorthandPropertyAssignment(parent)) return false
  return 'name' in parent && parent.name === node
}

/** True where the name stands for something of the file's own. */
function isBound(node: ts.Node, name: string): boolean {
  for (let at = node.parent; at !== undefined; at = at.parent)
    if (namesIn(at).includes(name)) return true
  return false
}

/** What a function, a block or a file declares by itself. */
function namesIn(node: ts.Node): string[] {
  if (ts.isFunctionLike(node)) return node.parameters.flatMap(({ name }) => namesOf(name))
  if (ts.isForStatement(node) || ts.isForOfStatement(node) || ts.isForInStatement(node))
    return node.initializer !== undefined && ts.isVariableDeclarationList(node.initializer)
      ? namesOfList(node.initializer)
      : []
  if (!ts.isBlock(node) && !ts.isSourceFile(node) && !ts.isCaseOrDefaultClause(node)) return []
  return node.statements.flatMap((statement) => {
    if (ts.isVariableStatement(statement)) return namesOfList(statement.declarationList)
    if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement))
      return statement.name === undefined ? [] : [statement.name.text]
    return ts.isImportDeclaration(statement) ? importedNames(statement.importClause) : []
  })
}

function namesOfList({ declarations }: ts.VariableDeclarationList): string[] {
  return declarations.flatMap(({ name }) => namesOf(name))
}

function namesOf(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text]
  return name.elements.flatMap((each) => (ts.isBindingElement(each) ? namesOf(each.name) : []))
}

function importedNames(clause: ts.ImportClause | undefined): string[] {
  const named = clause?.namedBindings
  const names =
    named === undefined
      ? []
      : ts.isNamespaceImport(named)
        ? [named.name]
        : named.elements.map(({ name }) => name)
  return [...(clause?.name === undefined ? [] : [clause.name]), ...names].map(({ text }) => text)
}
